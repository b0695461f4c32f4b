"""Reads the blocks in src/ops/*-inl.h, a struct for each op, which begins with its row of facts; and src/ops/views.h."""
import ast
import dataclasses
import pathlib
import re

from generator.op import Op

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def block_files(root=ROOT):
    return sorted(path for path in (root / "src" / "ops").glob("*-inl.h") if path.name != "blocks-inl.h")


def read_ops(root=ROOT):
    """Every block, in alphabetical order."""
    ops = sorted((op for path in block_files(root) for op in read_blocks(path)), key=lambda op: op.block)
    blocks = {op.block: op for op in ops}
    for number, op in enumerate(ops):
        op.number = number
        derived = re.match(r"struct \w+ : (\w+)", op.text)
        op.base = blocks.get(derived.group(1)) if derived else None  # none: a struct with a capital
    return ops


def read_blocks(path):
    text = path.read_text(encoding="utf-8")
    blocks = []
    for match in re.finditer(r"^struct (\w+)(?: : \w+)? \{\s*static constexpr Row row\{(.*?)\};", text, re.S | re.M):
        block = text[match.start() : text.index("\n};", match.start())]
        blocks.append(Op(match.group(1), path.name, match.start(), block, facts_of(match.group(2))))
    # A struct with a capital is what blocks derive from.
    if len(blocks) != len(re.findall(r"^struct [a-z_]", text, re.M)):
        raise SystemExit(f"ops.py: {path.name}: every block must begin with `static constexpr Row row{{...}};`")
    return blocks


def read_views(root=ROOT):
    """The entries of src/ops/views.h, in alphabetical order."""
    path = root / "src" / "ops" / "views.h"
    table = path.read_text(encoding="utf-8").partition("declared_views[] = {")[2]
    entries = re.findall(r"^    \{(\.signature = .*?)\},$", table, re.S | re.M)
    views = [Op("", path.name, place, "", {"kind": "Kind::view", **facts_of(entry)}) for place, entry in enumerate(entries)]
    if not views or len(views) != table.count(".signature"):
        raise SystemExit("ops.py: views.h: every entry must begin with `{.signature = ` on a line of its own")
    return sorted(views, key=lambda op: (op.name, op.place))


def facts_of(text):
    """ '.signature = "neg(Tensor self) -> Tensor", .vectors = true' as a dict."""
    found = re.finditer(r'\.(\w+)\s*=\s*((?:"(?:[^"\\]|\\.)*"\s*)+|[^,]+?)\s*(?=,|$)', text, re.S)
    return {match.group(1): value_of(match.group(2)) for match in found}


def value_of(text):
    """The value of an initializer: string literals become one text, true and false a bool; all else stays as it is."""
    if text.startswith('"'):
        return "".join(ast.literal_eval(part) for part in re.findall(r'"(?:[^"\\]|\\.)*"', text))
    return {"true": True, "false": False}.get(text, text)


def public_ops(ops):
    """The blocks with a signature, and again under their other names."""
    public = [op for op in ops if op.is_public]
    aliases = [dataclasses.replace(op, facts=alias_facts(op, alias)) for op in public for alias in op.aliases()]
    return sorted(public + aliases, key=lambda op: (op.name, op.block))


def alias_facts(op, alias):
    facts = {name: fact for name, fact in op.facts.items() if name not in ("symbol", "array_api", "numpy")}
    signature = op.facts["signature"].removeprefix(op.name)
    in_module = {"module": "special", "method": False, "inplace": False} if alias.startswith("special_") else {}
    own = {"python": facts["alias_python"]} if "alias_python" in facts else {}
    return {**facts, **in_module, **own, "signature": alias + signature, "doc": f"Another name of {op.name}."}


def by_name(ops):
    """The blocks of each public name, in the order of their files."""
    names = {}
    for op in sorted(ops, key=lambda op: (op.name, op.file, op.place)):
        names.setdefault(op.name, []).append(op)
    return names


def doc_of(blocks):
    """The documentation of a name: any of its blocks may declare it."""
    return next(op.facts["doc"] for op in blocks if op.facts.get("doc"))
