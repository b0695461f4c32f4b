#!/usr/bin/env python3
"""Checks what the documentation says about files.

Every relative link leads to a file, every #anchor to a heading, every `./dev word` is a command of ./dev, Chinese text has
Chinese punctuation, and docs/reference.md is what tools/ops.py generates from the op declarations. Prints each violation
and exits 1. The code in the documents is run by tests/docs_test.py.
--self-test: shows that each kind of violation is found.
"""
import pathlib
import re
import tempfile

import checking
import ops

LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)|<img[^>]*\ssrc=\"([^\"]+)\"")
COMMAND = re.compile(r"\./dev ([a-z0-9]+)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
HAN = "[\u4e00-\u9fff]"
HALF_WIDTH = re.compile(f"{HAN}[,:;!?()]|[,:;!?()]{HAN}")


def anchors(text):
    """The anchors that GitHub gives the headings."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dev_commands(root):
    script = root / "dev"
    if not script.exists():
        return set()
    return set(re.findall(r"^  ([a-z0-9]+)[ )|]", script.read_text(encoding="utf-8"), re.MULTILINE))


def violations(root):
    found = []
    commands = dev_commands(root)
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
        for match in HALF_WIDTH.finditer(CODE.sub("`", text)):
            found.append(f"{name}: half-width punctuation in Chinese: {match.group()}")
        for word in COMMAND.findall(text):
            if word not in commands:
                found.append(f"{name}: ./dev {word}: no such command")
    written = root / "docs" / "reference.md"
    if written.exists() and written.read_text(encoding="utf-8") != ops.reference(ops.read_ops(root), ops.read_views(root)):
        found.append("docs/reference.md is out of date; generate it: python3 tools/ops.py reference > docs/reference.md")
    return found


def violations_in(text):
    """The violations in a tree whose README.md holds `text`."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "docs").mkdir()
        (root / "docs" / "b.md").write_text("# One, two\n", encoding="utf-8")
        (root / "dev").write_text("case x in\n  test)\n    ;;\nesac\n", encoding="utf-8")
        (root / "README.md").write_text(text + "\n", encoding="utf-8")
        return violations(root)


CASES = [
    ("a link to a file", "[a](docs/b.md)", 0),
    ("a link to a heading", "[a](docs/b.md#one-two)", 0),
    ("links to the web are not followed", "[a](https://example.org/x)", 0),
    ("code is not a link", "```\nx[0](missing)\n```", 0),
    ("a missing file", "[a](docs/c.md)", 1),
    ("a missing picture", '<img alt="x" src="docs/c.svg">', 1),
    ("brackets in the link's text", "![of [2, 3]](docs/c.svg)", 1),
    ("a missing heading", "[a](docs/b.md#three)", 1),
    ("a command", "`./dev test`", 0),
    ("Chinese punctuation", "规则：靠右，对齐（`(N,)`）", 0),
    ("an English comma in Chinese", "上下排列,靠右对齐", 1),
    ("a missing command", "`./dev tset`", 1),
]


if __name__ == "__main__":
    checking.main(violations, "every link, command and declaration in the documentation exists", CASES, violations_in)
