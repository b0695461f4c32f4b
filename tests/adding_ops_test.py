#!/usr/bin/env python3
"""Adds one op of each kind to a copy of the tree, as docs/adding-an-op.md describes. Prints which files each op needs, and
compares each with PyTorch in every form. The guide's example is taken from the guide, the others from tests/adding_ops/.

adding_ops_test.py [--build FOLDER]     needs PyTorch, pytest and hypothesis; if FOLDER is kept, the next run is faster
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ADDED = ROOT / "tests" / "adding_ops"
# One instruction set without optimisations is enough here, and faster to build.
CONFIGURE = [
    "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DTENON_DISABLED_TARGETS=HWY_SSSE3|HWY_SSE4|HWY_AVX3|HWY_AVX3_DL",
    "-DTENON_BASELINE_TARGETS=HWY_AVX2", "-DTENON_BUILD_PYTHON=ON", "-DTENON_BUILD_EXAMPLES=OFF",
]  # fmt: skip


def write(path, text):
    """Writes a file. An equal file is left alone, so that it is not compiled again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def copy_tree(folder):
    """Copies the tracked files. Equal files are left alone, so that they are not compiled again."""
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in tracked.split("\0"):
        source, target = ROOT / name, folder / name
        if not name or not source.is_file() or (target.exists() and target.read_bytes() == source.read_bytes()):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
    shutil.rmtree(folder / ".git", ignore_errors=True)
    run("git", "init", "-q", cwd=folder)
    subprocess.run(["git", "add", "--pathspec-from-file=-", "--pathspec-file-nul"], cwd=folder, check=True, input=tracked, text=True)


def run(*command, cwd, **environment):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=os.environ | environment)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-6000:]}{done.stderr[-4000:]}")
    return done.stdout


def guide_example():
    """(name, block) of the op that the guide shows."""
    guide = (ROOT / "docs" / "adding-an-op.md").read_text(encoding="utf-8")
    block = re.search(r"```text\n(struct (\w+) \{.*?)```", guide, re.DOTALL)
    return block.group(2), block.group(1)


def add_ops(tree):
    """Writes the ops into the copy. Returns {op: its files}."""
    name, block = guide_example()
    added = {name: ["src/ops/guide-inl.h"]}
    write(tree / added[name][0], "// ops: the example of docs/adding-an-op.md.\n\n" + block)
    for path in sorted(ADDED.glob("*-inl.h")):
        op = path.name.removesuffix("-inl.h")
        added[op] = [f"src/ops/{path.name}"]
        write(tree / added[op][0], path.read_text(encoding="utf-8"))
        body = path.with_name(f"{op}.cpp")
        if body.exists():
            added[op].append(f"src/dispatch/{body.name}")
            write(tree / added[op][1], body.read_text(encoding="utf-8"))
    changelog = tree / "CHANGELOG.md"
    write(changelog, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8") + "\n- New ops: " + ", ".join(sorted(added)) + ".\n")
    write(tree / "docs" / "reference.md", run(sys.executable, "tools/ops.py", "reference", cwd=tree))
    # The folder may contain ops of an earlier run.
    others = set(run("git", "ls-files", "--others", "--exclude-standard", cwd=tree).split())
    for stale in others.difference(*added.values()):
        (tree / stale).unlink()
    return added


def check_files(tree, added):
    """Checks that nothing else was added or changed, also by the build."""
    run("git", "add", "-N", ".", cwd=tree)
    changed = set(run("git", "diff", "--name-only", cwd=tree).split())
    wanted = {"CHANGELOG.md", "docs/reference.md"}.union(*added.values())
    assert changed == wanted, changed ^ wanted
    for op, files in sorted(added.items()):
        is_algorithm = "Kind::algorithm" in (tree / files[0]).read_text(encoding="utf-8")
        assert len(files) == (2 if is_algorithm else 1), files
        print(f"{op}: {len(files)} file{'s' * (len(files) > 1)} and the changelog: {' '.join(files)}")


def build_module(tree):
    """Builds the copy, and returns a folder for PYTHONPATH with its Python module."""
    wheel_python = ROOT / ".venv-wheel" / "bin" / "python"  # which has nanobind
    python = wheel_python if wheel_python.exists() else sys.executable
    run("cmake", "-S", ".", "-B", "build", f"-DPython_EXECUTABLE={python}", *CONFIGURE, cwd=tree)
    run("cmake", "--build", "build", "--target", "tenon-oracle", "tenon_cli", "_tenon", cwd=tree)
    site = tree / "build" / "site"
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(tree / "src" / "python" / "tenon", site / "tenon")
    run("cmake", "--install", "build", "--component", "python", "--prefix", site, cwd=tree)
    return site


def check_shell(tree, added):
    for op in added:
        listed = run("build/tenon", "ops", op, cwd=tree)
        assert listed.startswith(f"{op}("), listed
    (tree / "build" / "x.csv").write_text("-1,2.5\n3,-4\n", encoding="utf-8")
    for expression, wanted in {"ramp(x).sum()": "5.5", "bell(x * 0).sum()": "4.", "moments(x, 0).square": "[5.0000, 11.1250]", "runprod(x, 1)[1]": "[3., -12.]", "colsort(x)[0]": "[-1., -4.]",
                               "lower_places(2, 2)[0]": "[0, 1, 1]", "divmod(x, abs(x)).quotient[0]": "[-1., 1.]"}.items():
        got = run("build/tenon", "eval", expression, "x=build/x.csv", cwd=tree)
        assert wanted in " ".join(got.split()).replace("( ", "(").replace("[ ", "["), (expression, got)


def compare(tree, site, added):
    """Compares the ops with PyTorch, in C++ and in Python, with errors and gradients; then runs the tests of the ops that
    PyTorch does not have."""
    import torch

    in_torch = [op for op in sorted(added) if hasattr(torch, op)]
    passed = 0
    for op in in_torch:
        last = run(sys.executable, "tests/oracle/compare.py", "--oracle", "build/tenon-oracle", "--op", op, "--cases", "600", cwd=tree).splitlines()[-1]
        passed += int(last.split()[0])
        print(f"{op}: {last}")
    declared = {op["name"]: op for op in json.loads(run(sys.executable, "tools/ops.py", "list", cwd=tree))}
    first = {op: declared[op]["parameters"][0] for op in added}
    of_tensor = [op for op in sorted(added) if first[op]["name"] == "self"]
    of_list = [op for op in in_torch if first[op]["type"] == "Tensor[]"]
    tests = [f"test_against_torch.py::{test}[{op}]" for op in of_tensor if op in in_torch for test in ("test_op", "test_wrong_arguments")]
    tests += [f"test_against_torch.py::{test}[{op}]" for op in of_list for test in ("test_op_of_a_list", "test_wrong_arguments")]
    tests += [f"test_numpy_functions.py::test_declared_name[{name}]" for op in added for name in declared[op]["facts"].get("numpy", "").split()]
    tests += [f"test_autograd.py::test_gradcheck_of_every_op[{op}]" for op in of_tensor]
    out = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, "../adding_ops", cwd=tree / "tests" / "python",
              PYTHONPATH=f"{site}:{tree / 'tests' / 'python'}", TENON_EXAMPLES="200")  # fmt: skip
    passed += int(re.search(r"(\d+) passed", out).group(1))
    print(f"{passed} passed, 0 failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "tenon-adding-an-op")
    tree = parser.parse_args().build.resolve()
    copy_tree(tree)
    added = add_ops(tree)
    site = build_module(tree)
    check_files(tree, added)
    check_shell(tree, added)
    compare(tree, site, added)


if __name__ == "__main__":
    main()
