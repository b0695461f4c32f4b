"""Every elementwise op of the specification is in Python, in each form that its row names, and in C++; tests/cli_test.py looks for them in the shell."""

import csv
import os
import re
import sys

import pytest
import tenon

from conftest import ROOT

TABLE = os.path.join(os.environ.get("TENON_SPEC", ROOT.parent / "shared" / "spec"), "ops.csv")
if not os.path.exists(TABLE) and "TENON_SPEC" not in os.environ:
    pytest.skip("the specification is not beside this checkout", allow_module_level=True)

with open(TABLE, encoding="utf-8") as table:
    ROWS = [row for row in csv.DictReader(table) if row["kind"] in ("binary", "ternary", "unary", "other") and row["tier"] in ("1", "2", "3")]
OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "&": "and", "|": "or", "^": "xor", "<<": "lshift",
             ">>": "rshift", "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "~": "invert", "abs()": "abs"}  # fmt: skip
ONLY_METHODS = ("copy_", "to")


def found(path):
    value = tenon
    for part in path.split("."):
        value = getattr(value, part, None)
    return value


def name_of(row):
    """Without the [...] that tells the forms of one function apart."""
    return row["name"].split("[")[0]


def declarations():
    """The public functions and methods of C++: the headers, and those that the build writes."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from generator.blocks import public_ops, read_ops
        from generator.headers import functions_h, methods_inc
    finally:
        sys.path.pop(0)
    public = public_ops(read_ops())
    written = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "include" / "tenon").glob("*.h"))]
    return "\n".join([functions_h(public), methods_inc(public), *written])


CPP = set(re.findall(r"\b(\w+)\(", declarations()))


def missing_forms(row):
    name, base = name_of(row), name_of(row).split(".")[-1]
    if name not in ONLY_METHODS and not callable(found(name)):
        yield f"function {name}"
    if row["method"] == "yes" and not hasattr(tenon.Tensor, base):
        yield f"method {base}"
    if row["out"] == "yes" and " out = None" not in (found(name).__doc__ or "").replace("out=None", "out = None"):
        yield f"out= of {name}"
    for form in row["inplace"].split():
        if form == "inplace=True":
            if not takes_inplace(name):
                yield f"inplace= of {name}"
        elif not hasattr(tenon.Tensor, form) and found(form) is None and found(f"nn.functional.{form}") is None:
            yield f"in-place form {form}"
    for alias in row["aliases"].split():
        if found(alias) is None and not hasattr(tenon.Tensor, alias):
            yield f"other name {alias}"
    for symbol in row["symbol"].split():
        for prefix, wanted in ("", True), ("r", row["reflected"]), ("i", row["compound"]):
            if wanted and not hasattr(tenon.Tensor, f"__{prefix}{OPERATORS[symbol]}__"):
                yield f"operator __{prefix}{OPERATORS[symbol]}__"


def takes_inplace(name):
    x = tenon.tensor([-2.0, 0.5, 3.0])
    return found(name)(x, inplace=True) is x


def missing_in_cpp(row):
    base = name_of(row).split(".")[-1]
    if not {base, f"special_{base}"} & CPP:
        yield base
    if row["out"] == "yes" and not {f"{base}_out", f"special_{base}_out"} & CPP:
        yield f"{base}_out"


def test_the_table_is_the_whole_catalogue():
    assert len(ROWS) > 170 and {row["tier"] for row in ROWS} == {"1", "2", "3"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_op_is_in_python_and_in_cpp(row):
    assert not list(missing_forms(row))
    assert not list(missing_in_cpp(row))


def test_a_missing_form_is_found():
    row = dict(ROWS[0], name="nowhere", inplace="nowhere_", out="yes", aliases="elsewhere", symbol="")
    assert list(missing_in_cpp(row)) == ["nowhere", "nowhere_out"]
    row = dict(row, out="")
    assert list(missing_forms(row)) == ["function nowhere", "method nowhere", "in-place form nowhere_", "other name elsewhere"]
