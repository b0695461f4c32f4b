#!/usr/bin/env python3
"""Claims the documentation makes about files.

Every relative link leads to a file, every `./dev word` is a command of ./dev, every #anchor is a heading, and every C++
snippet is, letter for letter, part of an example, which is compiled and run.
Prints what does not hold and exits 1. --self-test: shows that a broken link is found.
"""
import pathlib
import re
import sys
import tempfile

LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)|<img[^>]*\ssrc=\"([^\"]+)\"")
COMMAND = re.compile(r"\./dev ([a-z]+)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


SNIPPET = re.compile(r"^```cpp\n(.*?)^```", re.MULTILINE | re.DOTALL)


def anchors(text):
    """What GitHub makes of the headings."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dev_commands(root):
    script = root / "dev"
    if not script.exists():
        return set()
    return set(re.findall(r"^  ([a-z]+)[ )|]", script.read_text(encoding="utf-8"), re.MULTILINE))


def violations(root):
    found = []
    commands = dev_commands(root)
    examples = [path.read_text(encoding="utf-8") for path in sorted((root / "examples").glob("*.cpp"))]
    pages = sorted(root.glob("*.md")) + sorted((root / "docs").rglob("*.md"))
    for page in pages:
        name = page.relative_to(root).as_posix()
        text = page.read_text(encoding="utf-8")
        for match in LINK.finditer(FENCE.sub("", text)):
            link = match.group(1) or match.group(2)
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = (page.parent / path) if path else page
            if not target.exists():
                found.append(f"{name}: link to {link}: no such file")
            elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8")):
                found.append(f"{name}: link to {link}: no such heading")
        for snippet in SNIPPET.findall(text):
            if not any(snippet in example for example in examples):
                found.append(f"{name}: no example holds the snippet that begins: {snippet.splitlines()[0]}")
        for word in COMMAND.findall(text):
            if word not in commands:
                found.append(f"{name}: ./dev {word}: no such command")
    return found


def self_test():
    cases = [
        ("a link that holds", "[a](docs/b.md)", 0),
        ("a heading that holds", "[a](docs/b.md#one-two)", 0),
        ("the web is not looked at", "[a](https://example.org/x)", 0),
        ("code is not a link", "```\nx[0](missing)\n```", 0),
        ("a missing file", "[a](docs/c.md)", 1),
        ("a missing picture", '<img alt="x" src="docs/c.svg">', 1),
        ("brackets in the text", "![of [2, 3]](docs/c.svg)", 1),
        ("a missing heading", "[a](docs/b.md#three)", 1),
        ("a command", "`./dev test`", 0),
        ("a snippet that an example holds", "```cpp\nint x;\n```", 0),
        ("a snippet nobody runs", "```cpp\nint y;\n```", 1),
        ("a missing command", "`./dev tset`", 1),
    ]
    for why, text, wanted in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "docs" / "b.md").write_text("# One, two\n", encoding="utf-8")
            (root / "examples").mkdir()
            (root / "examples" / "a.cpp").write_text("// why\nint x;\n", encoding="utf-8")
            (root / "dev").write_text("case x in\n  test)\n    ;;\nesac\n", encoding="utf-8")
            (root / "README.md").write_text(text + "\n", encoding="utf-8")
            got = violations(root)
            if len(got) != wanted:
                print(f"self-test: {why}: wanted {wanted}, got {got}")
                return 1
    print(f"{len(cases)} cases")
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    problems = violations(pathlib.Path(__file__).resolve().parent.parent)
    print("\n".join(problems) if problems else "every link leads somewhere")
    sys.exit(1 if problems else 0)
