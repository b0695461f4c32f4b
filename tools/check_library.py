#!/usr/bin/env python3
"""Checks the symbols that the shared library exports, and its size.

check_library.py LIBRARY: exits 1 if a symbol is exported that is neither of namespace tenon nor a C function tenon_*, if an exported function takes a
container whose layout _GLIBCXX_DEBUG changes, or if the stripped file exceeds 12 MB.
--self-test COMPILER: shows that both kinds of symbol are found.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

LIMIT_BYTES = 12_000_000
OWN = re.compile(r"^(typeinfo for |typeinfo name for |vtable for |VTT for )?tenon::|^tenon_\w+$")  # tenon_*: tenon/c.h
CONTAINER = re.compile(r"\bstd::(vector|deque|list|forward_list|bitset|(unordered_)?(multi)?(map|set))<")


def exported_symbols(library):
    """(number of exported symbols, those that should not be exported)."""
    lines = subprocess.run(["nm", "--dynamic", "--defined-only", "--demangle", library], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    parts = [line.split(maxsplit=2) for line in lines]
    # A is the name of a version; a symbol's version is behind its name.
    symbols = [re.sub(r"@@\w[\w.]*$", "", part[2]) for part in parts if len(part) == 3 and part[1] != "A"]
    return len(symbols), [symbol for symbol in symbols if not OWN.match(symbol) or CONTAINER.search(symbol)]


def stripped_bytes(library):
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "stripped.so"
        subprocess.run(["strip", "-o", copy, library], check=True)
        return copy.stat().st_size


def self_test(compiler):
    source = ("#include <vector>\nnamespace tenon { int own() { return 1; } void given(std::vector<int>) {} }\n"
              "int leaked() { return 2; }\n"
              "extern \"C\" { int tenon_own() { return 3; } int other_leaked() { return 4; } }\n")
    with tempfile.TemporaryDirectory() as folder:
        code, library = pathlib.Path(folder) / "a.cpp", pathlib.Path(folder) / "a.so"
        code.write_text(source, encoding="utf-8")
        versions = pathlib.Path(folder) / "a.map"
        versions.write_text("A_1.0 { global: *; };\n", encoding="utf-8")
        subprocess.run([compiler, "-shared", "-fPIC", f"-Wl,--version-script={versions}", "-o", library, code], check=True)
        count, found = exported_symbols(library)
    takes_container = any(symbol.startswith("tenon::given(") for symbol in found)
    if count < 5 or not {"leaked()", "other_leaked"} <= set(found) or not takes_container or {"tenon::own()", "tenon_own"} & set(found):
        print(f"self-test: wanted leaked(), other_leaked and given(), got {found}")
        return 1
    print("leaks and a container are found")
    return 0


def check(library):
    count, found = exported_symbols(library)
    size = stripped_bytes(library)
    print(f"{count} symbols exported, {size / 1e6:.2f} MB stripped")
    for symbol in found:
        print(f"leaked: {symbol}")
    if size > LIMIT_BYTES:
        print(f"larger than {LIMIT_BYTES / 1e6:.0f} MB")
    return 1 if found or size > LIMIT_BYTES or count == 0 else 0


if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        sys.exit(self_test(sys.argv[2]))
    sys.exit(check(sys.argv[1]))
