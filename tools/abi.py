#!/usr/bin/env python3
"""Checks that programs linked with an earlier build still run: its functions are there, and its types have their layouts.

    abi.py LIBRARY              no symbol of the record (packaging/symbols) is gone, and all have the record's version
    abi.py LIBRARY --record     write the record: for a release, or for a change that breaks programs on purpose
    abi.py --layouts [COMMIT]   compare the public types with those of another commit by abidiff (Debian: abigail-tools);
                                without COMMIT: of the last tag, or of the commit that wrote the record
    abi.py --self-test          show that a symbol that is gone and a field that moved are found

New symbols and new types are no difference. A type's layout is read from a file that includes all headers, compiled with
debug information, so a comparison takes seconds and needs no build.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ROOT / "packaging/symbols"
INCOMPATIBLE = 8  # of abidiff's exit code


def output_of(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, **options).stdout


def symbols_of(library):
    """Exported functions and data with their versions. Weak ones are copies of what headers define: compilers differ in which they
    export."""
    lines = output_of("nm", "--dynamic", "--defined-only", "--with-symbol-versions", "--demangle", library).splitlines()
    found = [re.match(r"[0-9a-f]* ?([A-Za-z]) (.*)", line) for line in lines]
    return {match[2] for match in found if match and match[1] not in "WwA"}


def check_symbols(library, record):
    now, before = symbols_of(library), {line for line in record.read_text(encoding="utf-8").splitlines() if not line.startswith("#")}
    gone = sorted(before - now)
    for symbol in gone:
        print(f"gone: {symbol}")
    print(f"{len(before)} recorded symbols, {len(gone)} gone, {len(now - before)} new")
    return 1 if gone or not before else 0


def probe(include, folder, name):
    """A library whose debug information has all public types of the headers in folders `include`."""
    headers = sorted({path.name for each in include for path in (each / "tenon").glob("*.h")} - {"eigen.h", "functions.h"})
    source, library = folder / f"{name}.cpp", folder / f"{name}.so"
    text = "".join(f"#include <tenon/{header}>\n" for header in headers)
    source.write_text(text + "int probe() { return 0; }\n", encoding="utf-8")  # abidiff wants a symbol
    flags = [f"-I{each}" for each in include]
    output_of("g++", "-std=c++20", "-g", "-fno-eliminate-unused-debug-types", "-fPIC", "-shared", *flags, source, "-o", library)
    return library


def compare_layouts(before, after):
    """The exit code of a comparison of two probes; prints what differs."""
    command = ["abidiff", "--non-reachable-types", "--no-added-syms", "--no-show-locs", "--no-linkage-name", str(before), str(after)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode & 3:
        sys.exit(f"abidiff failed:\n{done.stdout}{done.stderr}")
    changes = [line for line in done.stdout.splitlines() if re.match(r"\s+\[C\]|\s+\[D\]", line) and "tenon" in line]
    if changes or done.returncode & INCOMPATIBLE:
        print(done.stdout)
    print(f"{len(changes)} public types changed")
    return 1 if changes or done.returncode & INCOMPATIBLE else 0


def headers_of(commit, folder):
    """The include folders of a commit; of the working tree without one."""
    tree = ROOT
    if commit:
        tree = folder / "tree"
        tree.mkdir()
        archive = subprocess.run(["git", "archive", commit, "include", "src/ops", "src/python/arguments.h", "tools"], cwd=ROOT, check=True, capture_output=True)
        subprocess.run(["tar", "-x", "-C", tree], input=archive.stdout, check=True)
    generated = folder / ("before" if commit else "after")
    output_of(sys.executable, "-B", tree / "tools/ops.py", "generate", generated)
    return [tree / "include", generated / "include"]


def base_commit():
    tags = output_of("git", "tag", "--list", "v*", "--sort=-creatordate", "--merged", cwd=ROOT).split()
    return tags[0] if tags else output_of("git", "log", "-1", "--format=%h", "--", RECORD, cwd=ROOT).strip()


def check_layouts(commit):
    commit = commit or base_commit()
    if not commit:
        print("there is no tag and no record in git: nothing to compare with")
        return 1
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        print(f"compared with {commit}")
        return compare_layouts(probe(headers_of(commit, folder), folder, "old"), probe(headers_of(None, folder), folder, "new"))


def self_test():
    header = "#pragma once\nnamespace tenon {{ struct Point {{ {} }}; {} }}\n"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        probes = {}
        for kind, fields, more in (("same", "int x, y;", ""), ("new", "int x, y;", "struct Line { Point a, b; };"), ("moved", "int w, x, y;", "")):
            (folder / kind / "tenon").mkdir(parents=True)
            (folder / kind / "tenon/point.h").write_text(header.format(fields, more), encoding="utf-8")
            probes[kind] = probe([folder / kind], folder, kind)
        source, library = folder / "a.cpp", folder / "a.so"
        source.write_text("namespace tenon { int kept() { return 1; } }\n", encoding="utf-8")
        output_of("g++", "-shared", "-fPIC", source, "-o", library)
        record = folder / "symbols"
        record.write_text("tenon::kept()\ntenon::lost()\n", encoding="utf-8")
        found = [compare_layouts(probes["same"], probes[kind]) for kind in ("same", "new", "moved")] + [check_symbols(library, record)]
        record.write_text("tenon::kept()\n", encoding="utf-8")
        found.append(check_symbols(library, record))
    if found != [0, 0, 1, 1, 0]:
        print(f"self-test: wanted [0, 0, 1, 1, 0], got {found}")
        return 1
    print("a symbol that is gone and a field that moved are found")
    return 0


def main(arguments):
    if arguments[:1] == ["--self-test"]:
        return self_test()
    if arguments[:1] == ["--layouts"]:
        return check_layouts(arguments[1] if arguments[1:] else None)
    if arguments[1:] == ["--record"]:
        # The first line makes every record a change, so that its commit has the types to compare with.
        first = f"# Written by ./dev check abi --record, after {output_of('git', 'rev-parse', '--short', 'HEAD', cwd=ROOT).strip()}"
        RECORD.write_text("\n".join([first, *sorted(symbols_of(arguments[0]))]) + "\n", encoding="utf-8")
        return 0
    return check_symbols(arguments[0], RECORD)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
