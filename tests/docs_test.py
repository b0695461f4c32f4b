#!/usr/bin/env python3
"""Runs every document block by block: README.md, CONTRIBUTING.md and docs/*.md.

    python3 tests/docs_test.py BUILD_DIR [--page NAME]     run all pages, or those whose name contains NAME
    python3 tests/docs_test.py BUILD_DIR --write-figures   generate the figures of docs/ again
    python3 tests/docs_test.py --self-test                 show that each kind of mistake is found

The language of a fenced block decides what is checked:
  sh       a script, which must succeed; the built programs are on PATH. The scripts of a page run in one folder, which at
           first contains only data/
  cpp      with a main: a program that must compile against the installed library and succeed; without: a part of a file
           in examples/, without any change
  c        the same in C99
  python   examples with >>>; they are run by tests/python/test_documentation.py
  cmake    a part of a project in tests/consumer, which tools/consumers.py builds
  text     after "<!-- output -->": the whole output of the block before
A block that cannot run, or of another language, must come after "<!-- not run: REASON -->".
Each docs/*.svg must be what its command in FIGURES draws.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIGURES = {
    "docs/explain.svg": ["tenon", "explain", "f32[5,3,4,1] + f32[3,1,1]", "--svg", "-"],
    "docs/fuse.svg": ["python3", "tools/plot_fuse.py", "docs/fuse.json", "-"],
    "docs/sweep.svg": ["python3", "tools/plot_sweep.py", "docs/sweep.json", "-"],
}
MOST_NOT_RUN = 12  # the most blocks that may be marked as not run
SECONDS = 120

MARK = re.compile(r"<!-- (output|not run: \S.*?) -->\s*\Z")  # directly before the block
FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\S*)\n(?P<content>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)


@dataclasses.dataclass
class Block:
    page: str
    line: int
    language: str
    content: str
    mark: str

    @property
    def location(self):
        return f"{self.page}:{self.line}"


def blocks_of(page, text):
    found, end = [], 0
    for match in FENCE.finditer(text):
        mark = MARK.search(text, end, match.start())
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(page, line, match["language"], textwrap.dedent(match["content"]), mark[1] if mark else ""))
        end = match.end()
    return found


def run(command, folder, environment=None):
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"takes more than {SECONDS} seconds", ""
    shown = (done.stdout + done.stderr)[-2000:]
    return (f"ends with {done.returncode}:\n{shown}" if done.returncode else ""), done.stdout


class Tools:
    """Runs blocks, with the built programs and an installed library."""

    def __init__(self, build, root, folder):
        self.root, self.examples = root, [path.read_text(encoding="utf-8") for path in sorted((root / "examples").glob("*.c*"))]
        self.compiler = os.environ.get("CXX", "c++")
        self.projects = [path.read_text(encoding="utf-8") for path in sorted((root / "tests/consumer").rglob("CMakeLists.txt"))]
        self.flags, self.environment = [], dict(os.environ)
        if build is None:
            return
        prefix = folder / "prefix"
        done = subprocess.run(["cmake", "--install", build, "--prefix", prefix], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"cannot install {build}:\n{done.stderr}")
        library = next(prefix.rglob("libtenon.so")).parent
        self.environment.update(PATH=f"{prefix / 'bin'}:{os.environ['PATH']}", PKG_CONFIG_PATH=str(library / "pkgconfig"), LD_LIBRARY_PATH=str(library))
        self.flags = [f"-I{prefix / 'include'}", f"-L{library}", f"-Wl,-rpath,{library}", "-ltenon"]

    def run_sh(self, block, folder):
        if not (folder / "data").exists():
            shutil.copytree(self.root / "data", folder / "data")
        return run(["bash", "-euo", "pipefail", "-c", block.content], folder, dict(self.environment, HOME=str(folder)))

    def run_cmake(self, block, _folder):
        inside = any(block.content in project for project in self.projects)
        return ("" if inside else "is not a part of a project in tests/consumer"), ""

    def run_cpp(self, block, folder):
        return self.run_program(block, folder, [self.compiler, "-std=c++20"], "block.cpp")

    def run_c(self, block, folder):
        return self.run_program(block, folder, [os.environ.get("CC", "cc"), "-std=c99", "-pedantic"], "block.c")

    def run_program(self, block, folder, compiler, name):
        if "int main(" not in block.content:
            inside = any(text in example for example in self.examples for text in (block.content, textwrap.indent(block.content, "  ")))
            return ("" if inside else "is not a part of an example, and has no main"), ""
        source, program = folder / name, folder / "block"
        source.write_text(block.content, encoding="utf-8")
        problem, _ = run([*compiler, "-O1", "-Wall", "-Wextra", "-Werror", source, "-o", program, *self.flags], folder)
        return (problem, "") if problem else run([program], folder)

    def run_python(self, block, _folder):
        return ("" if ">>>" in block.content else "has no example with >>>"), ""


def problem_of(block, before, tools, folder):
    """(the error of a block or "", its output or None)."""
    if block.mark.startswith("not run: "):
        return "", None
    if block.mark == "output":
        if before is None:
            return "is marked as output, but the block before was not run", None
        return ("" if block.content == before else f"is not what the block before prints:\n{before}"), None
    runner = {"sh": tools.run_sh, "cpp": tools.run_cpp, "c": tools.run_c, "cmake": tools.run_cmake, "python": tools.run_python}.get(block.language)
    if not runner:
        return f"cannot run: its language is {block.language or 'missing'}, and it has no mark", None
    return runner(block, folder)


def problems_of_page(name, text, tools):
    found = []
    with tempfile.TemporaryDirectory() as folder:
        before = None
        for block in blocks_of(name, text):
            problem, before = problem_of(block, before, tools, pathlib.Path(folder))
            if problem:
                found.append(f"{block.location}: the block {problem}")
    return found


def pages_of(root):
    return [path for path in [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))] if path.exists()]


def problems_of_marks(root):
    left_out = [block for page in pages_of(root) for block in blocks_of(page.relative_to(root).as_posix(), page.read_text(encoding="utf-8")) if block.mark.startswith("not run: ")]
    if len(left_out) <= MOST_NOT_RUN:
        return []
    return [f"{len(left_out)} blocks do not run, {MOST_NOT_RUN} may: {', '.join(block.location for block in left_out)}"]


def draw(name, tools):
    return subprocess.run(FIGURES[name], cwd=ROOT, capture_output=True, text=True, check=True, env=tools.environment).stdout


def problems_of_figures(root, tools):
    there = {path.relative_to(root).as_posix() for path in (root / "docs").glob("*.svg")}
    found = [f"{name}: no command in FIGURES draws it" for name in sorted(there - FIGURES.keys())]
    for name in sorted(there & FIGURES.keys()):
        if draw(name, tools) != (root / name).read_text(encoding="utf-8"):
            found.append(f"{name}: `{' '.join(FIGURES[name])}` draws something else; ./dev docs generates it again")
    return found


def problems(root, tools, only=""):
    found = problems_of_marks(root) + problems_of_figures(root, tools)
    for page in pages_of(root):
        name = page.relative_to(root).as_posix()
        if only in name:
            found += problems_of_page(name, page.read_text(encoding="utf-8"), tools)
    return found


def self_test():
    cases = [
        ("a script that works", "```sh\necho a > b\n```\n```sh\ncat b\n```\n<!-- output -->\n```text\na\n```", 0),
        ("a script that fails", "```sh\nfalse\necho\n```", 1),
        ("a pipe that fails", "```sh\nfalse | cat\n```", 1),
        ("a command that is not there", "```sh\nno-such-command\n```", 1),
        ("other output", "```sh\necho a\n```\n<!-- output -->\n```text\nb\n```", 1),
        ("output of nothing", "<!-- output -->\n```text\nb\n```", 1),
        ("text without a mark", "```text\na\n```", 1),
        ("no language", "```\na\n```", 1),
        ("a mark with a reason", "<!-- not run: a drawing -->\n```text\na\n```", 0),
        ("a mark without a reason", "<!-- not run: -->\n```text\na\n```", 1),
        ("a mark of another block", "<!-- not run: why -->\nwords\n```text\na\n```", 1),
        ("too many marks", "<!-- not run: why -->\n```text\na\n```\n" * (MOST_NOT_RUN + 1), 1),
        ("an indented block", "1. a\n\n   ```sh\n   cat <<X\n   a\n   X\n   ```", 0),
        ("a program", "```cpp\n#include <cstdio>\nint main() { std::puts(\"a\"); }\n```\n<!-- output -->\n```text\na\n```", 0),
        ("a program that does not compile", "```cpp\nint main() { return x; }\n```", 1),
        ("a program that fails", "```cpp\nint main() { return 3; }\n```", 1),
        ("a program in C", "```c\n#include <stdio.h>\nint main(void) { puts(\"a\"); return 0; }\n```\n<!-- output -->\n```text\na\n```", 0),
        ("C++ in a program in C", "```c\nint main() { return nullptr == 0; }\n```", 1),
        ("a part of an example", "```cpp\nint x;\n```", 0),
        ("a part of a function of an example", "```cpp\nint z;\n```", 0),
        ("a part of nothing", "```cpp\nint y;\n```", 1),
        ("a part of a project", "```cmake\nfind_package(Tenon)\n```", 0),
        ("a part of no project", "```cmake\nfind_package(Other)\n```", 1),
        ("an example", "```python\n>>> 1\n1\n```", 0),
        ("Python that nothing runs", "```python\n1\n```", 1),
        ("a figure without a command", None, 1),
    ]
    for why, text, wanted in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in ("docs", "examples", "data"):
                (root / name).mkdir()
            (root / "examples" / "a.cpp").write_text("// why\nint x;\nvoid f() {\n  int z;\n}\n", encoding="utf-8")
            (root / "tests/consumer").mkdir(parents=True)
            (root / "tests/consumer/CMakeLists.txt").write_text("project(a)\nfind_package(Tenon)\n", encoding="utf-8")
            (root / "README.md").write_text(text or "", encoding="utf-8")
            if text is None:
                (root / "docs" / "new.svg").write_text("<svg/>", encoding="utf-8")
            got = problems(root, Tools(None, root, root))
            if len(got) != wanted:
                print(f"self-test: {why}: wanted {wanted}, got {got}")
                return 1
    print(f"{len(cases)} cases")
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?", default=ROOT / "build/release")
    parser.add_argument("--page", default="")
    parser.add_argument("--write-figures", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(options.build, ROOT, pathlib.Path(folder))
        if options.write_figures:
            for name in FIGURES:
                (ROOT / name).write_text(draw(name, tools), encoding="utf-8")
            return 0
        found = problems(ROOT, tools, options.page)
    print("\n".join(found) if found else "every document runs")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
