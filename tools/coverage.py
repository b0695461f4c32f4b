#!/usr/bin/env python3
"""Line coverage of the library's rooms: coverage.py BUILD [--lines ROOM]

Reads the counts that the tests of a coverage build wrote (gcov's JSON) and prints how many lines of each room ran.
Exits 1 if a room is below the threshold. --lines: prints the lines of a room that no test ran.
Kernels are not counted: they are compiled once per instruction set, and a machine runs only one of these.
"""
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOMS = ["base", "shape", "type", "tensor", "ops", "plan", "tile", "dispatch", "autograd", "fuse"]
THRESHOLD = 95.0


def room_of(path):
    parts = pathlib.Path(path).parts
    return parts[1] if len(parts) > 2 and parts[0] == "src" and parts[1] in ROOMS and not path.endswith("_test.cpp") else None


def count_lines(build):
    """{file: {line: how often it ran}}, summed over all object files that contain the line."""
    counts = collections.defaultdict(lambda: collections.defaultdict(int))
    # The rooms' object files contain every line; the tests' object files would only add inlined copies.
    library = pathlib.Path(build).resolve() / "CMakeFiles" / "tenon_core.dir" / "src"
    objects = sorted(str(path) for room in ROOMS for path in (library / room).rglob("*.gcno"))
    with tempfile.TemporaryDirectory() as folder:
        for begin in range(0, len(objects), 50):
            subprocess.run(["gcov", "--json-format", "--hash-filenames", *objects[begin : begin + 50]], cwd=folder, check=True, capture_output=True)
        for report in pathlib.Path(folder).glob("*.gcov.json.gz"):
            for file in json.load(gzip.open(report))["files"]:
                path = pathlib.Path(file["file"])
                if not path.is_absolute() or not path.is_relative_to(ROOT):
                    continue
                name = path.relative_to(ROOT).as_posix()
                if room_of(name):
                    for line in file["lines"]:
                        counts[name][line["line_number"]] += line["count"]
    return counts


def main():
    counts = count_lines(sys.argv[1])
    if sys.argv[2:3] == ["--lines"]:
        for name in sorted(name for name in counts if room_of(name) == sys.argv[3]):
            text = (ROOT / name).read_text(encoding="utf-8").splitlines()
            for number in sorted(number for number, count in counts[name].items() if count == 0):
                print(f"{name}:{number}: {text[number - 1]}")
        return 0
    low = []
    print(f"{'room':10}{'lines':>7}{'run':>7}{'share':>9}")
    for room in ROOMS:
        lines = [count for name in counts if room_of(name) == room for count in counts[name].values()]
        run = sum(count > 0 for count in lines)
        share = 100 * run / len(lines) if lines else 0.0
        print(f"{room:10}{len(lines):7}{run:7}{share:8.1f}%")
        if share < THRESHOLD:
            low.append(room)
    if low:
        print(f"below {THRESHOLD:.0f} %: {' '.join(low)}; tools/coverage.py {sys.argv[1]} --lines ROOM prints the lines")
        return 1
    print(f"every room is above {THRESHOLD:.0f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
