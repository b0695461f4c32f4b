"""What the tools that read the tree share: how they end, and how they show that they find what they look for."""
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
    """`clean`: what to say where nothing is found. Each case: its reason, what `find` gets, how many findings are wanted."""
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test(cases, find))
    problems = find_in_tree(pathlib.Path(__file__).resolve().parent.parent)
    print("\n".join(problems) if problems else clean)
    sys.exit(1 if problems else 0)
