"""Shared by the checks in this folder: their self-tests, messages and exit codes."""
import pathlib
import sys


def self_test(cases, find):
    for why, *given, wanted in cases:
        found = find(*given)
        if len(found) != wanted:
            print(f"self-test: {why}: wanted {wanted}, got {found}")
            return 1
    print(f"{len(cases)} cases")
    return 0


def main(find_in_tree, clean, cases, find):
    """`clean` is the message if nothing is found. A case is (reason, *arguments of `find`, wanted number of findings)."""
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test(cases, find))
    problems = find_in_tree(pathlib.Path(__file__).resolve().parent.parent)
    print("\n".join(problems) if problems else clean)
    sys.exit(1 if problems else 0)
