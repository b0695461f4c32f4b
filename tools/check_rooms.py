#!/usr/bin/env python3
"""Checks that each room includes and calls only rooms before it.

A file's room is its folder under src/; a public header's room is the first word of its first line ("// tensor: ...").
check_rooms.py [BUILD]: prints every include that breaks the order. With a build folder, also prints every symbol that an
object file uses and that only a later room, or a room beside its own, defines. Exits 1 if there are any.
--self-test [COMPILER]: shows that violations are found; with a compiler, also those between object files.
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

import checking

# A room may include itself and the rooms in the lines above; rooms in one line never include each other.
ORDER = [
    ["system"],
    ["base"],
    ["shape", "type"],
    ["tensor"],
    ["ops"],
    ["plan", "kernel", "extension"],
    ["tile"],
    ["dispatch"],
    ["expr", "autograd"],
    ["fuse"],
    ["io"],
    ["python", "cli", "capi"],
]
RANK = {room: rank for rank, rooms in enumerate(ORDER) for room in rooms}

# Files that tools/ops.py generates. Every room may include them: they hold data, or declarations (tenon/functions.h, which
# only tenon/ops.h includes).
ALLOWED_EVERYWHERE = {"ops/list.def", "tenon/methods.inc", "tenon/functions.h"}
# It includes all public headers and belongs to no room.
UMBRELLA_HEADERS = {"tenon/tenon.h"}
# Files that do not belong to the room of their folder, with the reason.
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
    """One message for each include or header that breaks the order."""
    found = []
    public = {}
    for header in sorted((root / "include" / "tenon").glob("*.h")):
        name = f"tenon/{header.name}"
        if name in UMBRELLA_HEADERS:
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
            continue  # a test may include any room
        files.append((path, room))

    for path, room in files:
        relative = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match or match.group(1) in ALLOWED_EVERYWHERE:
                continue
            target = match.group(1)
            if target in UMBRELLA_HEADERS:
                if RANK[room] < RANK["expr"]:
                    found.append(f"{relative}:{number}: {room} includes {target}, which includes every room")
                continue
            other = public.get(target) or target.split("/")[0]
            if other in RANK and not may_include(room, other):
                found.append(f"{relative}:{number}: {room} includes {target} of {other}, which comes after it or beside it")
    return found


def objects_of(root, build):
    """(object file, its source) for each source that is no test and still exists."""
    for path in sorted(build.rglob("*.o")):
        start = path.as_posix().find(".dir/src/")
        source = path.as_posix()[start + len(".dir/"):-len(".o")]
        if start >= 0 and not source.endswith("_test.cpp") and (root / source).exists():
            yield path, source


def link_violations(root, build):
    """One message for each used symbol that only a later room, or a room beside it, defines."""
    sources = {path.as_posix(): source for path, source in objects_of(root, build)}
    if not sources:
        return [f"{build}: no object files of src/; build first"]
    lines = subprocess.run(["nm", "-A", "-P", *sources], check=True, capture_output=True, text=True).stdout.splitlines()
    definers, wanted = collections.defaultdict(set), collections.defaultdict(set)
    for line in lines:
        path, rest = line.rsplit(": ", 1)
        source, (symbol, kind) = sources[path], rest.split()[:2]
        room = EXCEPTIONS.get(source, source.split("/")[1])
        if kind in "Uwv":
            wanted[symbol].add((source, room))
        elif kind.isupper() or kind == "u":
            definers[symbol].add(room)
    found = []
    for symbol, users in wanted.items():
        for source, room in sorted(users):
            rooms = definers.get(symbol, {room})
            if not any(may_include(room, other) for other in rooms):
                found.append(f"{source}: {room} calls {symbol} of {' and '.join(sorted(rooms))}, which comes after it or beside it")
    return subprocess.run(["c++filt"], input="\n".join(found), check=True, capture_output=True, text=True).stdout.splitlines()


def link_violations_in(compiler, sources):
    """The violations in a tree of these files, compiled."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in sources.items():
            source, compiled = root / name, root / "build" / "core.dir" / (name + ".o")
            for path in (source, compiled):
                path.parent.mkdir(parents=True, exist_ok=True)
            source.write_text(text + "\n", encoding="utf-8")
            subprocess.run([compiler, "-std=c++20", "-c", "-o", compiled, source], check=True)
        return link_violations(root, root / "build")


def violations_in(name, text):
    """The violations in a small tree with this file added."""
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
    ("the room beside it, the other way round", "src/kernel/a.h", '#include "plan/plan.h"', 1),
    ("a later public header", "src/shape/a.cpp", '#include "tenon/tensor.h"', 1),
    ("a public header that includes a later one", "include/tenon/dims.h", '// base: x\n#include "tenon/tensor.h"', 1),
    ("a header without a room", "include/tenon/new.h", "#pragma once", 1),
    ("a folder that is no room", "src/utils/a.cpp", "", 1),
    ("a test may include any room", "src/plan/plan_test.cpp", '#include "tile/tile.h"', 0),
]


CALLEE = "namespace tenon { int f() { return 1; } }"
CALLER = "namespace tenon { int f(); int g() { return f(); } }"
LINK_CASES = [
    ("a call of an earlier room", {"src/tensor/a.cpp": CALLEE, "src/tile/b.cpp": CALLER}, 0),
    ("a call within the room", {"src/tile/a.cpp": CALLEE, "src/tile/b.cpp": CALLER}, 0),
    ("a call of a later room", {"src/autograd/a.cpp": CALLEE, "src/dispatch/b.cpp": CALLER}, 1),
    ("a call of the room beside it", {"src/autograd/a.cpp": CALLEE, "src/expr/b.cpp": CALLER}, 1),
    ("data of a later room", {"src/tile/a.cpp": "int a = 1;", "src/type/b.cpp": "extern int a; int b() { return a; }"}, 1),
    ("an inline function in both rooms", {"src/tile/a.cpp": "inline int f() { return 1; } int a() { return f(); }",
                                          "src/type/b.cpp": "inline int f() { return 1; } int b() { return f(); }"}, 0),
    ("a test may call anything", {"src/tile/a.cpp": CALLEE, "src/plan/b_test.cpp": CALLER}, 0),
    ("a function that no room defines", {"src/tile/b.cpp": CALLER}, 0),
]


def main(arguments):
    if arguments[:1] == ["--self-test"]:
        failed = checking.self_test(CASES, violations_in)
        if arguments[1:]:
            failed |= checking.self_test(LINK_CASES, lambda sources: link_violations_in(arguments[1], sources))
        return failed
    root = pathlib.Path(__file__).resolve().parent.parent
    problems = violations(root)
    for build in arguments:
        problems += link_violations(root, pathlib.Path(build).resolve())
    print("\n".join(problems) if problems else "every room includes only earlier rooms" + (" and calls no later one" if arguments else ""))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
