#!/usr/bin/env python3
"""Runs clang-tidy over rooms of src/, with the sources of a room joined to one file.

    tidy.py BUILD [ROOM ...]     BUILD contains compile_commands.json; without rooms: all sources in it

The sources of a room include much the same headers, so checking one file that includes them all is faster. Sources that
do not compile together, because their names clash, are joined to another file. Kernels are checked one by one, as each is
compiled for several instruction sets, and without Clang's static analyzer, which takes minutes for one of them; so are
the files that include Eigen. Prints each finding once, and exits 1 if there are any. What was checked without findings is
not checked again: ~/.cache/tenon-tidy has a file for each such text, with all of its headers, and configuration.
"""
import collections
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The joined files include .cpp files on purpose.
CHECKS = "-checks=-bugprone-suspicious-include"
ALONE = ("kernel", "extension")
KERNEL_CHECKS = "-checks=-clang-analyzer-*"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "tenon-tidy"
FINDING = re.compile(r"^\S+:\d+:\d+: (?:warning|error): ")


def read_commands(build):
    """{source: the command that compiles it, without the names of the source and the object file}."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        path = pathlib.Path(entry["file"])
        if ROOT / "src" not in path.parents or path.name.endswith("_test.cpp"):
            continue
        arguments = shlex.split(entry["command"])
        start = next((at + 1 for at, word in enumerate(arguments) if word.endswith("ccache")), 0)
        commands[path] = arguments[start:arguments.index("-o")]
    return commands


def clashing(compiler, file, sources):
    """Those of `sources` that do not compile in the joined `file`; never the first."""
    done = subprocess.run([*compiler, "-w", "-fsyntax-only", "-ferror-limit=0", file], capture_output=True, text=True)
    if done.returncode == 0:
        return []
    named = set(re.findall(r"^(\S+\.cpp):\d+:\d+: (?:fatal )?error", done.stderr, re.MULTILINE))
    found = [source for source in sources[1:] if str(source) in named]
    if not found:
        sys.exit(done.stderr)
    return found


def join(folder, room, sources, compiler):
    """Writes as few joined files as possible: [(file, the sources it includes)]."""
    joined = []
    while sources:
        file, left = folder / f"{room}{len(joined)}.cpp", []
        while True:
            file.write_text("".join(f'#include "{source}"\n' for source in sources), encoding="utf-8")
            moved = clashing(compiler, file, sources)
            if not moved:
                break
            sources = [source for source in sources if source not in moved]
            left += moved
        joined.append((file, sources))
        sources = left
    return joined


@functools.cache
def tool():
    """What a result depends on besides the text: clang-tidy's version and the configuration."""
    version = subprocess.run(["clang-tidy-14", "--version"], capture_output=True, check=True).stdout
    return version + (ROOT / ".clang-tidy").read_bytes()


def clean_mark(compiler, checks, file):
    """The file that says that `file`, with all that it includes, has no findings. Its name is that of the text, comments and macros too."""
    text = subprocess.run([*compiler, "-w", "-E", "-C", "-dD", file], capture_output=True, check=True).stdout
    words = "\0".join([*compiler, checks]).encode()
    return CACHE / hashlib.sha256((tool() + words + text).replace(str(ROOT).encode(), b"")).hexdigest()


def check_room(build, room, sources, commands):
    """The findings in a room's sources, or in one kernel: {first line: whole text}."""
    is_alone = room in ALONE
    folder = build / "joined" / (f"{room}-{sources[0].stem}" if is_alone else room)
    folder.mkdir(parents=True, exist_ok=True)
    compiler = commands[sources[0]]
    parts = [(sources[0], sources)] if is_alone else join(folder, room, sources, compiler)
    database = [{"directory": str(build), "file": str(file), "arguments": [*compiler, "-c", str(file)]} for file, _ in parts]
    (folder / "compile_commands.json").write_text(json.dumps(database), encoding="utf-8")
    found = {}
    checks = KERNEL_CHECKS if is_alone else CHECKS
    for file, included in parts:
        begin = time.monotonic()
        mark = clean_mark(compiler, checks, file)
        if mark.exists():
            continue
        done = subprocess.run(["clang-tidy-14", "-p", folder, f"--config-file={ROOT / '.clang-tidy'}", "-quiet", checks, file],
                              capture_output=True, text=True)  # fmt: skip
        print(f"{file.stem if is_alone else room}: {len(included)} files, {time.monotonic() - begin:.0f} s", flush=True)
        lines = done.stdout.splitlines(keepends=True)
        starts = [number for number, line in enumerate(lines) if FINDING.match(line)]
        for start, end in zip(starts, [*starts[1:], len(lines)]):
            found[lines[start]] = "".join(lines[start:end])
        if done.returncode and not starts:
            sys.exit(done.stderr)
        if not starts:
            CACHE.mkdir(parents=True, exist_ok=True)
            mark.touch()
    return found


def main():
    build, wanted = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    commands = read_commands(build)
    rooms = collections.defaultdict(list)
    for path in sorted(commands):
        rooms[path.relative_to(ROOT / "src").parts[0]].append(path)
    chosen = {room: sources for room, sources in rooms.items() if not wanted or room in wanted}
    found = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        kernels = [(room, [source]) for room in ALONE for source in chosen.get(room, [])]
        others = [(room, sources) for room, sources in chosen.items() if room not in ALONE]
        order = sorted(others, key=lambda pair: -len(pair[1])) + kernels  # the largest rooms first, so that none starts last
        for findings in pool.map(lambda pair: check_room(build, *pair, commands), order):
            found.update(findings)
    print("".join(found.values()), end="")
    print(f"{len(found)} findings in {sum(map(len, chosen.values()))} files")
    return 1 if found or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
