#!/usr/bin/env python3
"""Writes the type stubs of the Python module: make_stubs.py FOLDER_OF_THE_EXTENSION HEAD OUT_FOLDER.

OUT_FOLDER/__init__.pyi is the file HEAD, which ends inside class Tensor, followed by the operators, methods, dtypes and
functions that the extension has. OUT_FOLDER/return_types.pyi has the named tuples, OUT_FOLDER/nn/functional.pyi the functions
of tenon/nn/functional.py beside HEAD. Functions of Python that few programs call take anything there.
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
    "str": "str", "ints": "Sequence[_Int]", "floats": "Sequence[_Float]", "Tensors": "Sequence[Tensor]", "dtype": "_Dtype | builtins.type[Any]",
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
TENSORS = "input input1 input2 target weight var anchor positive negative logits".split()


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
    if function.args.kwonlyargs:
        parts.append("*")
    for place, default in zip(function.args.kwonlyargs, function.args.kw_defaults):
        parts.append(f"{place.arg}: {type_of(place.arg, default)}" + (" = ..." if default else ""))
    return f"def {function.name}({', '.join(parts)}) -> Tensor: ..."


def signatures_of(function):
    """Those that a docstring begins with."""
    lines = function.__doc__.partition("\n\n")[0].splitlines()
    return [read("(" + line.partition("(")[2].replace(" = ", "=")) for line in lines]


def functions_of(path):
    """{name: definition} of the public functions of a file."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")}


def functional_stub(path, nn, package):
    """`nn`: the extension's submodule; `package`: the signatures of the package's functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = {}
    for file in (*path.parent.glob("_[a-z]*.py"), path):
        functions |= functions_of(file)
    listed = next(node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
    lines = ["from collections.abc import Sequence", "from typing import Any, overload", "", "from .. import Generator, Number, Tensor, _Bool, _Float, _Int, return_types", ""]
    for name in eval(ast.unparse(listed)):
        if name in functions:
            lines.append(handwritten(functions[name]))
        else:
            lines += definitions(name, package.get(name) or signatures_of(getattr(nn, name)), method=False)
    return "\n".join([*lines, ""])


# --- Functions and methods of Python that few programs call

RARE = ("_settings", "_more_functions", "_decompositions", "_layers")
CHECKS = ("is_same_size", "is_nonzero", "is_neg", "is_distributed", "is_pinned", "is_shared", "is_set_to", "is_coalesced")


def loosely(function, indent=""):
    """The stub of a function whose arguments may be anything."""
    function = ast.parse(ast.unparse(function)).body[0]
    for place in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs, function.args.vararg, function.args.kwarg):
        if place is not None and place.arg != "self":
            place.annotation = ast.Name("Any")
    function.args.defaults = [ast.Constant(...) for _ in function.args.defaults]
    function.args.kw_defaults = [default and ast.Constant(...) for default in function.args.kw_defaults]
    result = "_Bool" if function.name in CHECKS else "Any"
    return f"{indent}def {function.name}({ast.unparse(function.args)}) -> {result}: ..."


def rare_methods(path):
    """The methods and properties of _methods.py and _storage.py."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tables = {node.targets[0].id: node.value for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)}
    functions = functions_of(path) | functions_of(path.parent / "_storage.py")
    for each in tables["METHODS"].elts:
        if isinstance(each, ast.Name):
            yield loosely(functions[each.id], "    ")
    for name in ast.literal_eval(tables["_SPARSE"]):
        yield f"    def {name}(self) -> Any: ..."
    for name in eval(ast.unparse(tables["_SOLVED"])):
        yield f"    def {name}(self, *arguments: Any, **options: Any) -> Any: ..."
    names = [each.value for each in tables["PROPERTIES"].generators[0].iter.elts]
    for name in [*names, "is_cpu", "name", "volatile"]:
        yield "    @property"
        yield f"    def {name}(self) -> {'None' if name == 'name' else '_Bool'}: ..."


def rare_functions(package):
    for file in RARE:
        yield from map(loosely, functions_of(package / f"{file}.py").values())
    for name in ("UntypedStorage", "TypedStorage"):
        yield f"{name}: Any"
    yield loosely(functions_of(package / "_storage.py")["is_storage"])
    for word in ("Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool"):
        yield f"{word}Tensor: Any"


def main(folder, head, out):
    sys.path.insert(0, folder)
    import _tenon

    package = pathlib.Path(head).parent / "tenon"
    head = pathlib.Path(head).read_text(encoding="utf-8")
    written = defined_in(head)
    lines = [head.rstrip("\n"), *operators(_tenon.Tensor, written[True])]
    listed = {method: [(name, [read(text) for text in texts]) for name, texts, _ in _tenon._signatures(method)] for method in (True, False)}
    for name, signatures in listed[True]:
        lines += definitions(name, signatures, method=True) if name not in (*written[True], "type") else []
    lines += rare_methods(package / "_methods.py")
    lines += ["", *(f"{name}: _Dtype" for name in vars(_tenon) if isinstance(getattr(_tenon, name), _tenon.dtype)), "bool_: _Dtype", ""]
    for name, signatures in listed[False]:
        lines += definitions(name, signatures, method=False) if name not in written[False] else []
    lines += rare_functions(package)
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "__init__.pyi").write_text("\n".join(lines) + "\n", encoding="utf-8")
    all_signatures = [(name, *signature) for name, signatures in listed[False] for signature in signatures]
    (out / "return_types.pyi").write_text(return_types(all_signatures), encoding="utf-8")
    (out / "nn").mkdir(exist_ok=True)
    (out / "nn" / "functional.pyi").write_text(functional_stub(package / "nn" / "functional.py", _tenon._nn, dict(listed[False])), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
