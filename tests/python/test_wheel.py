"""What an installed module must do at first: `import tenon` takes at most 25 ms more than Python itself; far above that, this fails."""

import statistics
import subprocess
import sys
import sysconfig
import time

import pytest

MOST_MS, TRIES = 25, 15


def milliseconds(code):
    start = time.perf_counter()
    subprocess.run([sys.executable, "-I", "-c", code], check=True)
    return (time.perf_counter() - start) * 1000


@pytest.mark.without_asan("it measures time")
def test_import_time(capsys):
    milliseconds("import tenon")  # into the system's cache
    pairs = [(milliseconds("pass"), milliseconds("import tenon")) for _ in range(TRIES)]
    bare, own = (min(column) for column in zip(*pairs))
    with capsys.disabled():
        print(f"\nimport tenon: {own - bare:.1f} ms over Python's own {bare:.1f} ms; median of {TRIES}: {statistics.median(b - a for a, b in pairs):.1f} ms")
    assert own - bare < max(3 * MOST_MS, 6 * bare)  # the least of many, on a machine that does other work too


def test_little_is_imported():
    code = "import sys; before = set(sys.modules); import tenon; print(*sorted(set(sys.modules) - before))"
    names = subprocess.run([sys.executable, "-I", "-c", code], check=True, capture_output=True, text=True).stdout.split()
    packages = {name.partition(".")[0] for name in names}
    assert "tenon" in packages and packages <= {"tenon", "atexit", "math", "warnings"}, packages  # and what Python itself has imported


@pytest.mark.without_asan("it starts an interpreter of its own")
def test_smoke(root):
    """The program that `./dev check wheels` and cibuildwheel run with each wheel."""
    done = subprocess.run([sys.executable, str(root / "tests" / "python" / "smoke.py")], capture_output=True, text=True)
    assert done.returncode == 0 and ", 0 failed" in done.stdout, done.stdout + done.stderr


@pytest.mark.without_asan("it starts an interpreter of its own")
def test_many_threads(root):
    """They get the known results; without a GIL where the interpreter has none: the module does not turn it on."""
    program = [sys.executable, "-W", "error::RuntimeWarning", str(root / "tests" / "python" / "threads.py")]
    done = subprocess.run(program, capture_output=True, text=True)
    assert done.returncode == 0 and ", 0 failed" in done.stdout, done.stdout + done.stderr
    assert ("without a GIL" in done.stdout) == bool(sysconfig.get_config_var("Py_GIL_DISABLED")), done.stdout
