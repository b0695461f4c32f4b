#!/usr/bin/env python3
"""The example of docs/adding-an-op.md in a copy of the tree: one file changes, and the op is PyTorch's in every form.

adding_ops_test.py [--build FOLDER]     needs PyTorch; a folder that stays makes the next run short
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# One instruction set is enough here, and four times as fast to build.
CONFIGURE = ["-G", "Ninja", "-DTENON_DISABLED_TARGETS=HWY_SSSE3|HWY_SSE4|HWY_AVX3|HWY_AVX3_DL"]


def copied(folder):
    """The tracked files; those that stay the same keep their times, so that a second build has little to do."""
    for name in subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0"):
        source, target = ROOT / name, folder / name
        if not name or not source.is_file() or (target.exists() and target.read_bytes() == source.read_bytes()):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "tenon-adding-an-op")
    tree = parser.parse_args().build
    copied(tree)
    guide = (ROOT / "docs" / "adding-an-op.md").read_text(encoding="utf-8")
    block = re.search(r"```text\n(struct (\w+) \{.*?)```", guide, re.DOTALL)
    name, file = block.group(2), tree / "src" / "ops" / "guide-inl.h"
    file.write_text("// ops: the example of docs/adding-an-op.md.\n\n" + block.group(1), encoding="utf-8")
    run("cmake", "-S", ".", "-B", "build", *CONFIGURE, cwd=tree)
    run("cmake", "--build", "build", "--target", "tenon-oracle", "tenon_cli", cwd=tree)
    listed = run("build/tenon", "ops", name, cwd=tree)
    assert listed.startswith(re.search(r'\.signature = "(.*?)"', block.group(1)).group(1)), listed
    print(run(sys.executable, "tests/oracle/compare.py", "--oracle", "build/tenon-oracle", "--op", name, "--cases", "1000", cwd=tree).splitlines()[-1])


if __name__ == "__main__":
    main()
