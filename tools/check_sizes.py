#!/usr/bin/env python3
"""Checks that sums and products of sizes, strides, offsets and bytes are computed with Checked (src/base/checked.h).

Reads the code of ROOMS and prints every `*`, `+`, `*=`, `+=` (for strides and offsets also `-` and `-=`) with such an
operand, unless
 - an operand is a Checked: declared as one, or constructed in place, as in `Checked(size) * stride`;
 - a comment that begins with "exact:" says why nothing can overflow. At the end of a line it holds for that line; on a
   line of its own it holds up to the next blank line or the end of the function.
Operands are recognised by their names: see WORDS. Exits 1 if it prints any. --self-test: shows that they are found.
"""
import re

import checking

# Rooms whose arithmetic is checked. Not `tile` and `kernel`: their operands satisfy Note [Bounds], and checks in their
# loops would be slow. `type` and `ops` have no sizes.
ROOMS = ["base", "shape", "tensor", "plan", "dispatch", "expr", "autograd", "fuse", "io", "python", "cli", "capi"]
PUBLIC = "include/tenon"

# A name that ends in one of these words, or contains one between underscores, is a size or computed from sizes.
WORDS = {
    "size", "sizes", "stride", "strides", "offset", "numel", "extent", "reach", "step", "steps", "bytes", "nbytes",
    "itemsize", "offsets", "stride_bytes", "elements", "rows", "columns", "width", "height", "run", "shape", "place",
}
# Differences of these can overflow; differences of sizes cannot, because sizes are not negative.
SIGNED_WORDS = {"stride", "strides", "offset", "offsets", "place", "start", "stop"}
# Files that only compute with lengths of lists and blocks in memory, which cannot overflow.
SKIPPED_FILES = {
    "include/tenon/dims.h", "src/base/small_vector.h", "src/tensor/recycle.h", "src/tensor/storage.cpp",
    "src/python/arguments.cpp", "src/python/gc_traverse.cpp", "src/python/references.cpp",
    "src/io/input.cpp", "src/io/mapping.cpp", "src/io/npy_header.cpp", "src/io/png.cpp",  # lengths of data in memory
    "src/cli/svg.cpp", "src/cli/terminal.cpp",  # widths of drawings and texts
}
LISTS = {"shape", "sizes", "strides", "offsets"}  # `+=` appends to these
TEXT_FUNCTIONS = {"to_string", "tuple_text", "text", "string", "padded", "quoted"}
TYPES = {"void", "char", "bool", "int", "float", "double", "auto", "const", "byte", "long", "unsigned", "T", "std"}

TOKEN = re.compile(
    r"(?P<name>[A-Za-z_]\w*)|(?P<number>\.?\d[\w.']*)|(?P<op>->|::|\*=|\+=|-=|\+\+|--|&&|\|\||<<=?|>>=?|[=!<>]=|[-+*/%&|^~!<>=?:;,.(){}\[\]])"
)


def without_comments(text):
    """The code with comments, string literals and preprocessor directives blanked; {line: its comment}."""
    comments = {}

    def blank(match):
        found = match.group(0)
        if found.startswith(("//", "/*")):
            line = text.count("\n", 0, match.start()) + 1
            for i, part in enumerate(found.split("\n")):
                comments[line + i] = part.lstrip("/* ")
        keep = '""' if found.startswith('"') else ""
        return keep + re.sub(r"[^\n]", " ", found)[len(keep):]

    code = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'(?!\w)', blank, text, flags=re.S)
    code = re.sub(r"^[ \t]*#[^\n]*(?:\\\n[^\n]*)*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), code, flags=re.M)
    return code, comments


def tokens_of(code):
    found = []
    line, last = 1, 0
    for match in TOKEN.finditer(code):
        line += code.count("\n", last, match.start())
        last = match.start()
        found.append((match.lastgroup, match.group(0), line))
    return found


def is_sized(name, words):
    parts = name.rstrip("_").split("_")
    return name.rstrip("_") in words or parts[-1] in words


PAIRS = {")": "(", "]": "["}


def left_operand(tokens, at):
    """The indexes of the tokens of the operand that ends before `at`."""
    begin = at - 1
    while begin >= 0:
        if tokens[begin][1] in PAIRS:
            depth = 0
            closing = tokens[begin][1]
            while begin >= 0:
                if tokens[begin][1] == closing:
                    depth += 1
                elif tokens[begin][1] == PAIRS[closing]:
                    depth -= 1
                    if depth == 0:
                        break
                begin -= 1
            if begin > 0 and (tokens[begin - 1][0] == "name" or tokens[begin - 1][1] in ")]>"):
                if tokens[begin - 1][1] in {"return", "if", "while", "for"}:
                    break
                if tokens[begin - 1][1] == ">":  # a cast: skip its type
                    while begin > 0 and tokens[begin][1] != "<":
                        begin -= 1
                begin -= 1
                continue
            break
        if tokens[begin][0] in ("name", "number"):
            if begin > 0 and tokens[begin - 1][1] in (".", "->", "::"):
                begin -= 2
                continue
            break
        break
    return range(max(begin, 0), at)


def right_operand(tokens, at):
    end = at + 1
    while end < len(tokens) and tokens[end][1] in ("*", "&", "-", "!", "~", "++", "--", "+"):
        end += 1
    while end < len(tokens):
        word = tokens[end][1]
        if word in ("(", "["):
            closing = {"(": ")", "[": "]"}[word]
            depth = 0
            while end < len(tokens):
                depth += tokens[end][1] == word
                depth -= tokens[end][1] == closing
                end += 1
                if depth == 0:
                    break
        elif tokens[end][0] in ("name", "number"):
            end += 1
            if end < len(tokens) and tokens[end][1] == "<" and tokens[end - 1][1].endswith("_cast"):
                while tokens[end][1] != ">":
                    end += 1
                end += 1
        elif word in (".", "->", "::"):
            end += 1
            continue
        else:
            break
        if end < len(tokens) and tokens[end][1] in (".", "->", "::", "(", "["):
            continue
        break
    return range(at + 1, end)


def names_of(tokens, indexes):
    """The names that tell what an operand is: the last of a chain `a.b.c`, or all in a group or a cast."""
    words = [tokens[i] for i in indexes]
    if [word for _, word, _ in words[-3:]] == ["size", "(", ")"]:
        return []  # the size of a container
    if words and words[-1][1] in LISTS:
        return []  # the list itself, not a number
    flat, depth = [], 0
    group = bool(words) and (words[0][1] == "(" or words[0][1].endswith("_cast"))
    for kind, word, _ in words:
        if word in ("(", "["):
            depth += 1
        elif word in (")", "]"):
            depth -= 1
        elif kind == "name" and (depth == 0 or group):
            flat.append(word)
    return flat if group else flat[-1:]


def unchecked_arithmetic(text, checked_functions=frozenset()):
    """(line, operator) of every sum and product that should be computed with Checked."""
    code, comments = without_comments(text)
    lines = text.split("\n")
    exact_lines, in_exact_block = set(), False
    for number, line in enumerate(lines, 1):
        own_line = line.strip().startswith("//")
        if not line.strip() or line.startswith("}"):
            in_exact_block = False
        if comments.get(number, "").startswith("exact:"):
            exact_lines.add(number)
            in_exact_block = in_exact_block or own_line
        if in_exact_block:
            exact_lines.add(number)
    tokens = tokens_of(code.replace('""', " __text__ "))  # a `+` beside a blanked string literal joins strings
    found, checked = [], set()
    top_level_ends = {number for number, line in enumerate(lines, 1) if line.startswith("}")}
    seen_line = 0
    for at, (kind, word, line) in enumerate(tokens):
        if any(number in top_level_ends for number in range(seen_line + 1, line)):
            checked = set()  # the function that declared them has ended
        seen_line = max(seen_line, line - 1)
        if word == "Checked" and at + 1 < len(tokens) and tokens[at + 1][0] == "name":
            rest = at + 1  # Checked a = 1, b = 2;
            depth = 0
            while rest < len(tokens) and tokens[rest][1] not in ";{" and depth >= 0:
                depth += tokens[rest][1] in ("(", "[")
                depth -= tokens[rest][1] in (")", "]")
                if depth == 0 and tokens[rest][0] == "name" and tokens[rest - 1][1] in ("Checked", ","):
                    checked.add(tokens[rest][1])
                rest += 1
        if word not in ("*", "+", "-", "*=", "+=", "-=") or at == 0 or at + 1 >= len(tokens):
            continue
        before = tokens[at - 1]
        if before[0] == "op" and before[1] not in (")", "]"):
            continue  # unary
        if before[1] in {"return", "case"} or before[1] in TYPES or before[1].endswith("_t"):
            continue
        if word == "*" and before[0] == "name" and before[1][0].isupper():
            continue  # a pointer to a type
        left, right = left_operand(tokens, at), right_operand(tokens, at)
        everything = {tokens[i][1] for i in (*left, *right)}
        if everything & ({"Checked", "ByteSum", "__text__", "double", "float"} | checked | checked_functions):
            continue
        left_names, right_names = names_of(tokens, left), names_of(tokens, right)
        if (set(left_names) | set(right_names)) & TEXT_FUNCTIONS:
            continue
        words = SIGNED_WORDS if word in ("-", "-=") else WORDS
        if word in ("-", "-=") and [tokens[i][1] for i in right] == ["1"]:
            continue
        if word in ("+", "+=", "-", "-=") and [tokens[i][0] for i in right] == ["number"] and not any(
            is_sized(name, {"offset", "stride", "numel", "extent", "bytes", "nbytes", "size"}) for name in left_names):
            continue
        if any(is_sized(name, words) for name in left_names + right_names) and line not in exact_lines:
            found.append((line, word))
    return sorted(set(found))


def read_files(root):
    files = sorted((root / PUBLIC).glob("*.h"))
    for room in ROOMS:
        files += [p for p in sorted((root / "src" / room).rglob("*")) if p.suffix in {".h", ".cpp"}]
    skipped = SKIPPED_FILES | {"src/base/checked.h"}
    return [p for p in files if not p.name.endswith("_test.cpp") and p.relative_to(root).as_posix() not in skipped]


def violations(root):
    texts = {path: path.read_text(encoding="utf-8") for path in read_files(root)}
    functions = {name for text in texts.values() for name in re.findall(r"^(?:\w+ )*Checked (\w+)\(", text, re.M)}
    found = []
    for path, text in texts.items():
        lines = text.split("\n")
        for line, word in unchecked_arithmetic(text, frozenset(functions)):
            found.append(f"{path.relative_to(root)}:{line}: unchecked {word}: {lines[line - 1].strip()}")
    return found


CASES = [
    ("a product", "x = size * stride;", 1),
    ("a sum", "x = offset + extent;", 1),
    ("members and calls", "x = a.sizes()[dim] * b->strides[dim];", 1),
    ("a product in place", "numel *= size;", 1),
    ("a difference of strides", "x = a.offset - b;", 1),
    ("inside a cast", "x = static_cast<uint64_t>(size) * n;", 1),
    ("a group", "x = (size - 1) * 2;", 1),
    ("an index is not a product", "x = sizes[dim + 1];", 0),
    ("a string", 'x = "sizes " + to_string(sizes);', 0),
    ("a string made of sizes", "x = to_string(sizes) + name;", 0),
    ("Checked in place", "x = Checked(size) * stride;", 0),
    ("declared as Checked", "Checked step = 1;\nstep *= size;", 0),
    ("two in one declaration", "Checked a = 1, step = offset;\nstep += size;", 0),
    ("declared as Checked in another function", "{\nChecked step = 1;\n}\nint f() {\nstep *= size;\n}", 1),
    ("the size of a container", "x = name.size() + 1;", 0),
    ("the size of a tensor", "x = t.size(0) * 2;", 1),
    ("floating point", "x = static_cast<double>(size) * 2;", 0),
    ("a list", "shape += size_text;", 0),
    ("a pointer", "int64_t* stride = f(Tensor* size);", 0),
    ("exact: at the end of the line", "x = size * 2;  // exact: a test", 0),
    ("exact: above the line", "// exact: a test\nx = size *\n    2;", 0),
    ("exact: before a blank line", "// exact: a test\n\nx = size * 2;", 1),
    ("in a comment", "// size * stride", 0),
]


if __name__ == "__main__":
    checking.main(violations, "every product and sum of sizes, strides and offsets is checked", CASES, unchecked_arithmetic)
