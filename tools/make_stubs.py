#!/usr/bin/env python3
"""Writes the type stubs of the Python module: make_stubs.py FOLDER_OF_THE_EXTENSION HEAD OUT_FOLDER.

OUT_FOLDER/__init__.pyi is the file HEAD, which ends inside class Tensor, followed by the operators, methods, dtypes and
functions that the extension has. OUT_FOLDER/return_types.pyi has the named tuples, OUT_FOLDER/nn/functional.pyi the functions
of tenon/nn/functional.py beside HEAD.
"""
import ast
import dataclasses
import inspect
import keyword
import pathlib
import re
import sys
import types

# The grammar of src/python/arguments.h.
TYPES = {
    "Tensor": "Tensor", "Operand": "Tensor | Number", "Number": "Number | Tensor", "int": "_Int", "float": "_Float", "bool": "_Bool",
    "str": "str", "ints": "Sequence[_Int]", "Tensors": "Sequence[Tensor]", "dtype": "_Dtype | builtins.type[Any]",
    "device": "str | _Device", "layout": "_Layout", "memory_format": "memory_format", "Generator": "Generator", "object": "Any",
}  # fmt: skip
RETURNED = {**TYPES, "dtype": "_Dtype", "None": "None", "RemovableHandle": "RemovableHandle", "Tensor[]": "tuple[Tensor, ...]"}


@dataclasses.dataclass
class Parameter:
    """ "int[1]? dim=None"."""

    text: str

    def __post_init__(self):
        declared, self.has_default, self.default = self.text.partition("=")
        self.type, _, self.name = declared.rpartition(" ")
        if keyword.iskeyword(self.name):
            self.name += "_"

    def stub(self):
        kind = TYPES[re.sub(r"\[\d\]|\?", "", self.type)]
        if "[" in self.type:  # one number for each
            kind += " | _Int"
        if "?" in self.type or self.default == "None":
            kind += " | None"
        is_literal = re.fullmatch(r"[-0-9.e]+|True|False|None", self.default)
        return f"{self.name}: {kind}" + (f" = {self.default if is_literal else '...'}" if self.has_default else "")


def stub_of(part):
    return part if part == "*" else Parameter(part).stub()


# --- Results


def fields_of(returned):
    """The names of several results: ["values", "indices"]; "" where one has none."""
    return [part.partition(" ")[2] for part in returned[1:-1].split(", ")] if returned.startswith("(") else []


def return_type(name, returned):
    fields = fields_of(returned)
    if not fields:
        return RETURNED[returned]
    return f"return_types.{name}" if any(fields) else f"tuple[{', '.join(['Tensor'] * len(fields))}]"


def return_types(signatures):
    """The named tuples. Results written to `out=` have their own type."""
    named = {name: fields_of(returned) for name, _, returned in signatures if any(fields_of(returned))}
    lines = ["from . import Tensor"]
    for name, fields in sorted(named.items()):
        for type_name in (name, name + "_out"):
            lines += ["", f"class {type_name}(tuple[{', '.join(['Tensor'] * len(fields))}]):"]
            for field in fields:
                lines += ["    @property", f"    def {field}(self) -> Tensor: ..."]
    return "\n".join([*lines, ""])


# --- Functions and methods


def overloads(name, parts, returned):
    """One signature as (parameters, return type): one or several."""
    kind = return_type(name, returned)
    if "Tensors out=None" in parts:
        others = [stub_of(part) for part in parts[:-1]]
        yield [*others, "out: None = None"], kind
        yield [*others, "out: Sequence[Tensor]"], kind + "_out"
        return
    yield [stub_of(part) for part in parts], kind
    # f((2, 3)) may be written f(2, 3)
    if parts and parts[0].startswith("ints") and (len(parts) == 1 or parts[1] == "*"):
        yield [f"*{Parameter(parts[0]).name}: _Int", *map(stub_of, parts[2:])], kind


def definitions(name, signatures, method):
    indent = "    " if method else ""
    found = [overload for parts, returned in signatures for overload in overloads(name, parts, returned)]
    for parameters, kind in found:
        if len(found) > 1:
            yield f"{indent}@overload"
        parameters = [*(["self"] if method else []), *parameters]
        # PyTorch lists some signatures whose calls another signature accepts, too.
        ignored = "  # type: ignore[overload-cannot-match]" if len(found) > 1 else ""
        yield f"{indent}def {name}({', '.join(parameters)}) -> {kind}: ...{ignored}"


def read(signature):
    """ "(Tensor input, *, int? dim=None) -> bool" as parameters and what is returned."""
    parameters, _, returned = signature.partition(" -> ")
    return [part for part in parameters[1:-1].split(", ") if part], returned or "Tensor"


def defined_in(head):
    """The names of the methods of Tensor (True) and of the functions (False) that the head defines."""
    body = ast.parse(head).body
    tensor = next(statement for statement in body if isinstance(statement, ast.ClassDef) and statement.name == "Tensor")
    return {method: {each.name for each in statements if isinstance(each, ast.FunctionDef)} for method, statements in ((True, tensor.body), (False, body))}


# --- Operators


def operators(tensor_type, described):
    """The operators of the type that the head does not describe: __add__, __radd__, __iadd__, __neg__, ..."""
    slots = {name: slot for name, slot in vars(tensor_type).items() if isinstance(slot, types.WrapperDescriptorType)}
    for name, slot in slots.items():
        if name in described or name in ("__init__", "__repr__", "__str__", "__delitem__"):
            continue
        other = ", other: Any" if len(inspect.signature(slot).parameters) > 1 else ""  # a third one of __pow__ is None
        ignored = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
        yield f"    def {name}(self{other}) -> Tensor: ...{ignored}"


# --- nn.functional

BY_NAME = {"dim": "_Int", "ignore_index": "_Int", "threshold": "_Float", "size_average": "_Bool | None", "reduce": "_Bool | None", "weight": "Tensor | None", "pos_weight": "Tensor | None"}
TENSORS = "input input1 input2 target weight var".split()


def type_of(name, default):
    """A parameter's type, by its default or its name."""
    if default is None and name in TENSORS:
        return "Tensor | _Float" if name == "var" else "Tensor"
    if name in BY_NAME:
        return BY_NAME[name]
    if isinstance(default, ast.Constant) and isinstance(default.value, (bool, str)):
        return "_Bool" if isinstance(default.value, bool) else "str"
    is_number = default is not None and not (isinstance(default, ast.Constant) and default.value is None)
    return "_Float" if is_number else "Any"


def handwritten(function):
    """The stub of a Python function whose result is a tensor."""
    places = function.args.args
    defaults = [None] * (len(places) - len(function.args.defaults)) + function.args.defaults
    parts = [f"{place.arg}: {type_of(place.arg, default)}" + (" = ..." if default else "") for place, default in zip(places, defaults)]
    return f"def {function.name}({', '.join(parts)}) -> Tensor: ..."


def signatures_of(function):
    """Those that a docstring begins with."""
    lines = function.__doc__.partition("\n\n")[0].splitlines()
    return [read("(" + line.partition("(")[2].replace(" = ", "=")) for line in lines]


def functional_stub(source, nn, package):
    """`nn`: the extension's submodule; `package`: the signatures of the package's functions."""
    tree = ast.parse(source)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    listed = next(node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
    lines = ["from collections.abc import Sequence", "from typing import Any, overload", "", "from .. import Generator, Number, Tensor, _Bool, _Float, _Int, return_types", ""]
    for name in eval(ast.unparse(listed)):
        if name in functions:
            lines.append(handwritten(functions[name]))
        else:
            lines += definitions(name, package.get(name) or signatures_of(getattr(nn, name)), method=False)
    return "\n".join([*lines, ""])


def main(folder, head, out):
    sys.path.insert(0, folder)
    import _tenon

    functional = pathlib.Path(head).parent / "tenon" / "nn" / "functional.py"
    head = pathlib.Path(head).read_text(encoding="utf-8")
    written = defined_in(head)
    lines = [head.rstrip("\n"), *operators(_tenon.Tensor, written[True])]
    listed = {method: [(name, [read(text) for text in texts]) for name, texts, _ in _tenon._signatures(method)] for method in (True, False)}
    for name, signatures in listed[True]:
        lines += definitions(name, signatures, method=True) if name not in written[True] else []
    lines += ["", *(f"{name}: _Dtype" for name in vars(_tenon) if isinstance(getattr(_tenon, name), _tenon.dtype)), "bool_: _Dtype", ""]
    for name, signatures in listed[False]:
        lines += definitions(name, signatures, method=False) if name not in written[False] else []
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "__init__.pyi").write_text("\n".join(lines) + "\n", encoding="utf-8")
    all_signatures = [(name, *signature) for name, signatures in listed[False] for signature in signatures]
    (out / "return_types.pyi").write_text(return_types(all_signatures), encoding="utf-8")
    (out / "nn").mkdir(exist_ok=True)
    (out / "nn" / "functional.pyi").write_text(functional_stub(functional.read_text(encoding="utf-8"), _tenon._nn, dict(listed[False])), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
