#!/usr/bin/env python3
"""Rooms include only rooms before them.

A file's room is its folder under src/, a public header's the word its first line begins with ("// tensor: ...").
Prints every include that breaks the order and exits 1. --self-test: shows that a violation is found.
"""
import pathlib
import re
import tempfile

import checking

# Each line may include itself and every line above; rooms on one line never see each other.
ORDER = [
    ["base"],
    ["shape", "type"],
    ["tensor"],
    ["ops"],
    ["plan", "kernel"],
    ["tile"],
    ["dispatch"],
    ["expr", "autograd"],
    ["io"],
    ["python", "cli"],
]
RANK = {room: rank for rank, rooms in enumerate(ORDER) for room in rooms}

# What tools/ops.py writes: data, and the declarations in tenon/functions.h, which only tenon/ops.h includes.
READ_BY_ALL = {"ops/list.def", "tenon/methods.inc", "tenon/functions.h"}
# The header of all headers is a shop window, not a room.
WINDOWS = {"tenon/tenon.h"}
# Single files that sit in another room than their folder's, with the reason.
EXCEPTIONS = {
    "src/io/print.cpp": "autograd",  # to_string(Tensor) is part of the library; the rest of io is not
}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def room_of_header(path):
    first = path.read_text(encoding="utf-8").splitlines()[:1]
    match = re.match(r"// (\w+):", first[0]) if first else None
    return match.group(1) if match and match.group(1) in RANK else None


def may_include(room, other):
    return room == other or RANK[other] < RANK[room]


def violations(root):
    """Texts, one for each include or header that breaks the order."""
    found = []
    public = {}
    for header in sorted((root / "include" / "tenon").glob("*.h")):
        name = f"tenon/{header.name}"
        if name in WINDOWS:
            continue
        public[name] = room_of_header(header)
        if public[name] is None:
            found.append(f"include/{name}:1: the first line must name a room: // room: what it is for")

    files = [(root / "include" / name, room) for name, room in public.items() if room]
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in {".h", ".cpp"}:
            continue
        relative = path.relative_to(root).as_posix()
        room = EXCEPTIONS.get(relative, path.relative_to(root / "src").parts[0])
        if room not in RANK:
            found.append(f"{relative}:1: src/{room} is not a room; rooms are {' '.join(RANK)}")
            continue
        if path.name.endswith("_test.cpp"):
            continue  # a test may use whatever makes its point
        files.append((path, room))

    for path, room in files:
        relative = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match or match.group(1) in READ_BY_ALL:
                continue
            target = match.group(1)
            if target in WINDOWS:
                if RANK[room] < RANK["expr"]:
                    found.append(f"{relative}:{number}: {room} includes {target}, which holds every room")
                continue
            other = public.get(target) or target.split("/")[0]
            if other in RANK and not may_include(room, other):
                found.append(f"{relative}:{number}: {room} includes {target} of {other}, which comes after it or beside it")
    return found


def violations_in(name, text):
    """Of a tree with one more file."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        files = {"include/tenon/tensor.h": "// tensor: the handle", "src/base/empty.cpp": "", name: text}
        for file, content in files.items():
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(content + "\n", encoding="utf-8")
        return violations(root)


CASES = [
    ("an earlier room", "src/tile/a.cpp", '#include "plan/plan.h"', 0),
    ("its own room", "src/tile/a.cpp", '#include "tile/tile.h"', 0),
    ("the list of ops", "src/base/a.cpp", '#include "ops/list.def"', 0),
    ("a later room", "src/plan/a.cpp", '#include "tile/tile.h"', 1),
    ("the room beside it", "src/plan/a.cpp", '#include "kernel/kernel.h"', 1),
    ("the room beside it, other way", "src/kernel/a.h", '#include "plan/plan.h"', 1),
    ("a later public header", "src/shape/a.cpp", '#include "tenon/tensor.h"', 1),
    ("a public header that looks ahead", "include/tenon/dims.h", '// base: x\n#include "tenon/tensor.h"', 1),
    ("a header without a room", "include/tenon/new.h", "#pragma once", 1),
    ("a folder that is no room", "src/utils/a.cpp", "", 1),
    ("a test may look anywhere", "src/plan/plan_test.cpp", '#include "tile/tile.h"', 0),
]


if __name__ == "__main__":
    checking.main(violations, "every room includes only earlier rooms", CASES, violations_in)
