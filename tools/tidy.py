#!/usr/bin/env python3
"""clang-tidy over rooms of src/, many files as one.

    tidy.py BUILD [ROOM ...]     BUILD holds compile_commands.json; without rooms: all that it compiles

Every file includes the same headers. So the files of a room are included into one file and looked at together; where
names of two files' own clash, there is one more such file. A kernel is compiled several times over and stands alone.
Prints each finding once, and exits 1 where there are any.
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# That the joined files include sources is what they are for.
CHECKS = "-checks=-bugprone-suspicious-include"
FINDING = re.compile(r"^\S+:\d+:\d+: (?:warning|error): ")


def read_commands(build):
    """What compiles each source of a room: {path: arguments without the file's own}."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        path = pathlib.Path(entry["file"])
        if ROOT / "src" not in path.parents or path.name.endswith("_test.cpp"):
            continue
        arguments = shlex.split(entry["command"])
        start = next((at + 1 for at, word in enumerate(arguments) if word.endswith("ccache")), 0)
        commands[path] = arguments[start:arguments.index("-o")]
    return commands


def clashing(compiler, file, members):
    """Those of `members` that do not compile where they are joined; the first of them always stays."""
    done = subprocess.run([*compiler, "-w", "-fsyntax-only", "-ferror-limit=0", file], capture_output=True, text=True)
    if done.returncode == 0:
        return []
    named = set(re.findall(r"^(\S+\.cpp):\d+:\d+: (?:fatal )?error", done.stderr, re.MULTILINE))
    found = [member for member in members[1:] if str(member) in named]
    if not found:
        sys.exit(done.stderr)
    return found


def join(folder, room, members, compiler):
    """Files that include all of `members`, as few as names allow: [(file, members)]."""
    joined = []
    while members:
        file, left = folder / f"{room}{len(joined)}.cpp", []
        while True:
            file.write_text("".join(f'#include "{member}"\n' for member in members), encoding="utf-8")
            moved = clashing(compiler, file, members)
            if not moved:
                break
            members = [member for member in members if member not in moved]
            left += moved
        joined.append((file, members))
        members = left
    return joined


def look_at(build, room, members, commands):
    """Findings in a room's files: {first line: whole text}."""
    folder = build / "joined" / room
    folder.mkdir(parents=True, exist_ok=True)
    compiler = commands[members[0]]
    parts = [(member, [member]) for member in members] if room == "kernel" else join(folder, room, members, compiler)
    database = [{"directory": str(build), "file": str(file), "arguments": [*compiler, "-c", str(file)]} for file, _ in parts]
    (folder / "compile_commands.json").write_text(json.dumps(database), encoding="utf-8")
    found = {}
    for file, included in parts:
        begin = time.monotonic()
        done = subprocess.run(["clang-tidy-14", "-p", folder, f"--config-file={ROOT / '.clang-tidy'}", "-quiet", CHECKS, file],
                              capture_output=True, text=True)
        print(f"{room}: {len(included)} files, {time.monotonic() - begin:.0f} s", flush=True)
        lines = done.stdout.splitlines(keepends=True)
        starts = [number for number, line in enumerate(lines) if FINDING.match(line)]
        for start, end in zip(starts, [*starts[1:], len(lines)]):
            found[lines[start]] = "".join(lines[start:end])
        if done.returncode and not starts:
            sys.exit(done.stderr)
    return found


def main():
    build, wanted = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    commands = read_commands(build)
    rooms = collections.defaultdict(list)
    for path in sorted(commands):
        rooms[path.relative_to(ROOT / "src").parts[0]].append(path)
    chosen = {room: members for room, members in rooms.items() if not wanted or room in wanted}
    found = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        # The largest first.
        order = sorted(chosen.items(), key=lambda pair: -len(pair[1]))
        for findings in pool.map(lambda pair: look_at(build, *pair, commands), order):
            found.update(findings)
    print("".join(found.values()), end="")
    print(f"{len(found)} findings in {sum(map(len, chosen.values()))} files")
    return 1 if found or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
