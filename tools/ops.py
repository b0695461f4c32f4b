#!/usr/bin/env python3
"""Reads the declarations of ops (src/ops/*-inl.h) and writes what follows from them.

ops.py generate FOLDER [--names FILE]
                         C++ sources: the public functions and methods, their definitions, Python's table, calls by name.
                         Files that would not change are left alone. FILE: the argument names that src/python/ knows.
ops.py list              the declarations as JSON
ops.py reference         docs/reference.md, to standard output
"""
import argparse
import ast
import dataclasses
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


# --- The grammar


@dataclasses.dataclass(frozen=True)
class Type:
    """What a parameter's type becomes. A signature with a type nobody used before needs one line in TYPES."""

    cpp: str  # in C++
    python: str  # in the grammar of src/python/arguments.h
    read: str  # its value in a Python call; {0} is the name, {1} the default
    value: str  # its value in a call by name; {0} is the place, {1} the default
    none: str = ""  # None as a default in C++


TYPES = {
    "Tensor": Type("const Tensor&", "Tensor", "call.tensor(Name::{0})", "values[{0}].tensor()"),
    "Tensor[]": Type("const List<Tensor>&", "Tensors", "call.tensors(Name::{0})", "values[{0}].tensors()"),
    "Tensor|Scalar": Type("const Arg&", "Tensor|Number", "call.arg(Name::{0})", "values[{0}].arg()"),
    "Tensor|Scalar?": Type("const std::optional<Arg>&", "Tensor|Number", "call.optional_arg(Name::{0})",
                           "values[{0}].optional_arg()", "{}"),
    "Scalar": Type("Scalar", "Number", "call.number(Name::{0}, {1})", "values[{0}].number({1})"),
    "float": Type("double", "float", "call.floating(Name::{0}, {1})", "values[{0}].floating({1})"),
    "float?": Type("std::optional<double>", "float?", "call.optional_floating(Name::{0})", "values[{0}].optional_floating()", "{}"),
    "bool": Type("bool", "bool", "call.boolean(Name::{0}, {1})", "values[{0}].boolean({1})"),
    "bool?": Type("std::optional<bool>", "bool?", "call.optional_boolean(Name::{0})", "values[{0}].optional_boolean()", "{}"),
    "int": Type("int64_t", "int", "call.integer(Name::{0}, {1})", "values[{0}].integer({1})"),
    "int?": Type("std::optional<int64_t>", "int?", "call.optional_integer(Name::{0})", "values[{0}].optional_integer()", "{}"),
    "Scalar?": Type("std::optional<Scalar>", "Number?", "call.optional_number(Name::{0})", "values[{0}].optional_number()", "{}"),
    "int[1]": Type("const DimsArg&", "ints[1]", "call.dims_arg(Name::{0})", "values[{0}].dims_arg()", "{}"),
    "int[1]?": Type("const DimsArg&", "ints[1]?", "call.dims_arg(Name::{0})", "values[{0}].dims_arg()", "{}"),
    "int[]?": Type("const DimsArg&", "ints?", "call.dims_arg(Name::{0})", "values[{0}].dims_arg()", "{}"),
    "int[]": Type("SizesView", "ints", "call.dims(Name::{0})", "values[{0}].dims()"),
    "str": Type("const char*", "str", "call.text(Name::{0})", "values[{0}].text()"),
    "str?": Type("const char*", "str?", "call.text(Name::{0})", "values[{0}].text()", "nullptr"),
    "ScalarType": Type("Dtype", "dtype", "*call.dtype(Name::{0})", "*values[{0}].dtype()"),
    "ScalarType?": Type("std::optional<Dtype>", "dtype", "call.dtype(Name::{0})", "values[{0}].dtype()", "{}"),
}


@dataclasses.dataclass
class Parameter:
    type: str
    name: str
    default: str | None
    keyword_only: bool

    def cpp_default(self):
        if self.default is None:
            return ""
        if self.default in ("None", "()"):
            return TYPES[self.type].none
        return {"True": "true", "False": "false"}.get(self.default, self.default)

    def is_operand(self):
        return self.type.startswith("Tensor") and not self.is_list()

    def is_list(self):
        """Whether it is a list of tensors."""
        return self.type == "Tensor[]"


def parse_parameters(text):
    """ "Tensor self, *, Scalar alpha=1"."""
    parameters, keyword_only = [], False
    for part in filter(None, (part.strip() for part in text.split(","))):
        if part == "*":
            keyword_only = True
            continue
        declared, _, default = part.partition("=")
        type_, name = declared.rsplit(" ", 1)
        if type_ not in TYPES:
            raise SystemExit(f"ops.py: no parameter has the type '{type_}': {text}")
        parameters.append(Parameter(type_, name, default or None, keyword_only))
    return parameters


@dataclasses.dataclass
class Op:
    block: str  # its name as a struct and an enumerator
    file: str
    place: int  # in the file
    facts: dict

    has_state: bool = False  # of a fold: its partial results are no elements

    number: int = 0  # among all blocks
    name: str = ""
    parameters: list = dataclasses.field(default_factory=list)
    result: str = "Tensor"  # as declared: "Tensor[]", "(Tensor values, Tensor indices)"
    result_names: list = dataclasses.field(default_factory=list)  # of several results; "" where they have none
    has_out: bool = False

    def __post_init__(self):
        signature = self.facts.get("signature")
        if signature is None:
            return
        match = re.fullmatch(r"(\w+)\((.*?)(, Tensor(?:\[\d\])? out=None)?\) -> (Tensor|Tensor\[\]|\((?:Tensor(?: \w+)?(?:, )?)+\))", signature)
        if not match:
            raise SystemExit(f"{self.file}: {self.block}: not a signature: {signature}")
        self.name, inside, out, self.result = match.groups()
        self.parameters = parse_parameters(inside)
        self.has_out = out is not None
        if self.result.startswith("("):
            self.result_names = [part.strip().removeprefix("Tensor").strip() for part in self.result[1:-1].split(",")]

    @property
    def stem(self):
        """The block's name before a suffix: a block that would be called `std` is `std_`."""
        return self.block.rstrip("_")

    @property
    def is_public(self):
        return bool(self.name)

    @property
    def kind(self):
        return self.facts.get("kind", "Kind::map").removeprefix("Kind::")

    @property
    def is_called(self):
        """Whether a function in dispatch/ computes it."""
        return self.kind == "algorithm" or self.has_state

    @property
    def is_driven(self):
        """Whether a fold with a State needs no function of its own: it has the arguments that every fold has."""
        names = [parameter.name for parameter in self.parameters]
        return self.has_state and not self.facts.get("by_hand") and names[:1] == ["self"] and {"dim", "keepdim"} <= set(names) <= {"self", "dim", "keepdim", "dtype"} \
            and all(parameter.type.startswith("int[") for parameter in self.parameters if parameter.name == "dim")  # fmt: skip

    @property
    def is_method(self):
        return self.facts.get("method", True) and any(parameter.name == "self" for parameter in self.parameters)

    @property
    def is_comparison(self):
        return self.facts.get("promotion") == "Promotion::comparison"

    @property
    def has_inplace(self):
        return self.is_method and self.facts.get("inplace", self.kind == "map")

    def aliases(self):
        return self.facts.get("alias", "").split()

    def array_api_name(self):
        return self.facts.get("array_api", "")

    def numpy_names(self):
        return self.facts.get("numpy", self.array_api_name()).split()

    def operands(self):
        return [parameter for parameter in self.parameters if parameter.is_operand()]

    def takes_numbers(self, parameter):
        """A map of several operands takes numbers for any of them in C++."""
        return parameter.type == "Tensor" and self.kind == "map" and len(self.operands()) > 1 and not parameter.name == "condition" \
            and not any(other.type == "Tensor|Scalar?" for other in self.parameters)  # fmt: skip

    def type_of(self, parameter):
        return TYPES["Tensor|Scalar" if self.takes_numbers(parameter) else parameter.type]

    # --- Results

    @property
    def result_count(self):
        """-1: a list of as many as the arguments make."""
        return -1 if self.result == "Tensor[]" else len(self.result_names) or 1

    def cpp_result(self):
        if self.result_names:
            return "std::tuple<" + ", ".join(["Tensor"] * self.result_count) + ">"
        return "List<Tensor>" if self.result == "Tensor[]" else "Tensor"

    def out_names(self):
        return [name or f"out{i}" for i, name in enumerate(self.result_names)] or ["out"]

    def out_parameters(self):
        return ", ".join(f"Tensor& {name}" for name in self.out_names())

    def out_result(self):
        return "std::tuple<" + ", ".join(["Tensor&"] * self.result_count) + ">" if self.result_names else "Tensor&"

    def listed(self, call):
        """A call's result as a List<Tensor>."""
        return f"as_list({call})" if self.result_names else call if self.result == "Tensor[]" else f"{{{call}}}"

    # --- C++

    def cpp_parameter(self, parameter, with_default):
        default = parameter.cpp_default() if with_default else ""
        return f"{self.type_of(parameter).cpp} {parameter.name}" + (f" = {default}" if default else "")

    def cpp_parameters(self, with_default=False, out=False, method=False):
        parts = [self.out_parameters()] if out else []
        parts += [self.cpp_parameter(parameter, with_default) for parameter in self.parameters
                  if not (method and parameter.name == "self")]  # fmt: skip
        return "(" + ", ".join(parts) + ")"

    # --- Python

    def python_signatures(self):
        """PyTorch's overloads in the grammar of src/python/arguments.h."""
        declared = self.facts.get("python") or self.facts["signature"].partition("(")[2].join(["(", ""]).rpartition(" -> ")[0]
        lines = []
        for line in declared.split("\n"):
            inside, _, suffix = line[1:].rpartition(")")
            lines += [f"({text}){suffix}" for text in self.python_overloads(inside)]
        if not self.facts.get("method", True):
            lines = [line + "|function" for line in lines]
        return lines

    def python_overloads(self, inside):
        """One for each way its `Tensor|Scalar` parameters can be, all tensors or all numbers; a number as `self` goes with
        tensors and without `out=`."""
        if inside.startswith("Tensor|Scalar self, "):
            rest = inside.partition(", ")[2]
            tensors, numbers = self.python_overloads("Tensor self, " + rest)
            first = next(self.python_overloads("Scalar self, " + rest.replace(", *, Tensor out=None", "")))
            yield from (tensors, first, numbers)
            return
        parts = [part.strip() for part in inside.split(",")]
        ways = [0, 1] if any("|" in part for part in parts) else [0]
        for way in ways:
            texts = []
            for part in parts:
                if part == "*" or part.endswith(" out=None"):
                    texts.append(re.sub(r"\[\d\]", "s", part))
                    continue
                declared, equals, default = part.partition("=")
                type_, name = declared.rsplit(" ", 1)
                python = TYPES[type_].python.split("|")
                python = python[way] if len(python) > 1 else python[0]
                if name == "self" and python == "Tensor":
                    name = "input"
                if python == "Tensor" and self.facts.get("numbers_as_tensors"):
                    python = "Operand"
                texts.append(f"{python} {name}{equals}{default}")
            yield ", ".join(texts)

    def python_takes_number(self, place):
        """Whether an operand may be a number in Python."""
        return "|" in self.operands()[place].type or (place > 0 and self.facts.get("numbers_as_tensors", False))

    def python_read(self, parameter):
        """The value of a parameter in a Python call, where it may have either of two names."""
        both = parameter.name == "self" and "|" in self.type_of(parameter).python and not self.facts.get("numbers_as_tensors")
        name = "input" if parameter.name == "self" else parameter.name
        type_ = self.type_of(parameter)
        if name == "correction":
            return "correction_of(call)"  # which may be called `unbiased`
        read = type_.read.replace("Name::{0}", "call.has(Name::self) ? Name::self : Name::input") if both and parameter.type != "Tensor" else type_.read
        return read.format(name, parameter.cpp_default() or "0")


def literal(text):
    """The value of a designated initializer: adjacent string literals, true, false, a number or an identifier."""
    text = text.strip()
    if text.startswith('"'):
        return "".join(ast.literal_eval(part) for part in re.findall(r'"(?:[^"\\]|\\.)*"', text))
    return {"true": True, "false": False}.get(text, text)


def facts_of(text):
    """ "{.a = 1, .b = "x, y"}" as a dict."""
    facts = {}
    for match in re.finditer(r'\.(\w+)\s*=\s*((?:"(?:[^"\\]|\\.)*"\s*)+|[^,]+?)\s*(?=,|$)', text, re.S):
        facts[match.group(1)] = literal(match.group(2))
    return facts


def read_ops(root=ROOT):
    """Every block, in alphabetical order; and the files, in that order."""
    ops, files = [], []
    for path in sorted((root / "src" / "ops").glob("*-inl.h")):
        if path.name == "blocks-inl.h":
            continue
        files.append(path.name)
        text = path.read_text(encoding="utf-8")
        known = len(ops)
        for match in re.finditer(r"^struct (\w+)( : \w+)? \{\s*static constexpr Row row\{(.*?)\};", text, re.S | re.M):
            block = text[match.start() : text.index("\n};", match.start())]
            has_state = match.group(2) is not None or bool(re.search(r"\bState\b", block))  # what is derived from has one
            ops.append(Op(match.group(1), path.name, match.start(), facts_of(match.group(3)), has_state))
        if len(ops) - known != len(re.findall(r"^struct [a-z]", text, re.M)):
            raise SystemExit(f"ops.py: {path.name}: a block does not begin with its row: static constexpr Row row{{...}};")
    ops.sort(key=lambda op: op.block)
    for number, op in enumerate(ops):
        op.number = number
    return ops, files


def public_ops(ops):
    """The blocks with a signature, and again under their other names."""
    public = [op for op in ops if op.is_public]
    aliases = [dataclasses.replace(op, facts=alias_facts(op, alias)) for op in public for alias in op.aliases()]
    return sorted(public + aliases, key=lambda op: (op.name, op.block))


def alias_facts(op, alias):
    facts = {name: fact for name, fact in op.facts.items() if name not in ("symbol", "array_api", "numpy")}
    signature = op.facts["signature"].removeprefix(op.name)
    return facts | {"signature": alias + signature, "doc": f"Another name of {op.name}."}


# --- What is written

HEAD = "// Written by tools/ops.py from the declarations in src/ops/. Changes belong there.\n"


def list_def(ops):
    return HEAD + "".join(f"TENON_OP({op.block})\n" for op in ops)


def blocks_inc(files):
    return HEAD + "".join(f'#include "ops/{file}"\n' for file in files)


def wrapped(line):
    """Lines of at most 120 characters, broken behind a comma and aligned behind the bracket."""
    lines, indent = [line], " " * (line.index("(") + 1)
    while len(lines[-1]) > 120:
        cut = lines[-1].rindex(", ", 0, 120) + 1
        lines[-1:] = [lines[-1][:cut], indent + lines[-1][cut + 1 :]]
    return lines


def functions_h(ops):
    lines = [
        "// dispatch: the ops, as functions and with `out=`. Each broadcasts its operands, promotes their dtypes and keeps",
        "// their memory format as PyTorch does. Errors: Error for shapes and dtypes, IndexError for dims.",
        HEAD + "#pragma once",
        "#include <tuple>",
        "",
        '#include "tenon/list.h"',
        '#include "tenon/tensor.h"',
        "",
        "namespace tenon {",
    ]
    for op in ops:
        if op.facts.get("doc"):
            lines += ["", f"/// {op.facts['doc']}"]
        lines += wrapped(f"TENON_API {op.cpp_result()} {op.name}{op.cpp_parameters(with_default=True)};")
        if op.has_out:
            lines += wrapped(f"TENON_API {op.out_result()} {op.name}_out{op.cpp_parameters(with_default=True, out=True)};")
    return "\n".join([*lines, "", *operators(ops), "", "}  // namespace tenon", ""])


def operators(ops):
    """The operators that C++ lets a type define: it knows no @."""
    lines = []
    for op in ops:
        symbol, name = op.facts.get("symbol"), op.name
        if symbol == "@":
            continue
        if symbol and len(op.operands()) == 1:
            lines.append(f"inline Tensor operator{symbol}(const Tensor& self) {{ return {name}(self); }}")
        elif symbol:
            lines += [f"inline Tensor operator{symbol}({a} a, {b} b) {{ return {name}(a, b); }}"
                      for a, b in (("const Tensor&", "const Tensor&"), ("const Tensor&", "Scalar"), ("Scalar", "const Tensor&"))]  # fmt: skip
            if not op.is_comparison:
                lines.append(f"inline Tensor& operator{symbol}=(Tensor& a, const Arg& b) {{ return a.{name}_(b); }}")
    return lines


def methods_inc(ops):
    lines = [HEAD + "// The ops as methods: part of class Tensor."]
    for op in ops:
        if not op.is_method:
            continue
        lines.append(f"{op.cpp_result()} {op.name}{op.cpp_parameters(with_default=True, method=True)} const;")
        if op.has_inplace:
            lines.append(f"Tensor& {op.name}_{op.cpp_parameters(with_default=True, method=True)};")
    return "\n".join([*lines, ""])


def ops_inc(ops):
    """Definitions of every form."""
    lines = [HEAD]
    for op in ops:
        if op.is_driven:
            lines.append(driven_definition(op))
        if op.is_called:
            lines += algorithm_definitions(op)
        else:
            lines.append(f"Tensor {op.name}{op.cpp_parameters()} {{ return {computation(op, 'functional')}; }}")
            if op.has_out:
                lines.append(f"Tensor& {op.name}_out{op.cpp_parameters(out=True)} {{ {computation(op, 'out')}; return out; }}")
            if op.has_inplace:
                lines.append(f"Tensor& Tensor::{op.name}_{op.cpp_parameters(method=True)} {{ {computation(op, 'inplace')}; return *this; }}")
        if op.is_method:
            names = ", ".join("*this" if parameter.name == "self" else parameter.name for parameter in op.parameters)
            lines.append(f"{op.cpp_result()} Tensor::{op.name}{op.cpp_parameters(method=True)} const {{ return tenon::{op.name}({names}); }}")
    return "\n".join([*lines, ""])


def derivatives_of(op, root=ROOT):
    """By operand: what the operand's derivative reads, as bits: operand i, and 16 + i for result i. No entry: it has none."""
    sources, found = source_of(op, root), {}
    for i, letter in enumerate("abc"):
        if "grad_" + letter not in sources:
            continue
        body = sources["grad_" + letter][1]
        operands = [other for other, name in enumerate("abc") if f"g.{name}()" in body]
        results = [int(place or 0) for place in re.findall(r"g\.result\((\d*)\)", body)]
        found[i] = sum({1 << place for place in operands} | {1 << (16 + place) for place in results})
    return found


def algorithm_definitions(op):
    names = ", ".join(parameter.name for parameter in op.parameters)
    derivatives = derivatives_of(op)
    lists = [parameter for parameter in op.parameters if parameter.is_list()]
    operands = ", ".join(parameter.name for i, parameter in enumerate(lists + op.operands()) if i in derivatives or not derivatives)
    others = ", ".join(parameter.name for i, parameter in enumerate(lists + op.operands()) if i not in derivatives and derivatives)
    defined = f"  check_defined({others});\n" if others else ""
    body = defined
    if derivatives:
        recorded = f"with_history().call(Op::{op.block}, values)"
        if op.result_names:
            recorded = f"as_tuple<{op.result_count}>({recorded})"
        elif op.result == "Tensor":
            recorded = f"std::move({recorded}[0])"
        body += f"  if (records({operands})) [[unlikely]] {{\n    const Value values[] = {{{names}}};\n    return {recorded};\n  }}\n"
    lines = [f"{op.cpp_result()} {op.name}{op.cpp_parameters()} {{\n{body}  return plain::{op.block}({names});\n}}"]
    if op.has_out:
        lines.append(f"{op.out_result()} {op.name}_out{op.cpp_parameters(out=True)} {{\n{defined}{algorithm_out(op, names, operands)}\n}}")
    if op.has_inplace:
        lines.append(f"Tensor& Tensor::{op.name}_{op.cpp_parameters(method=True)} {{\n{defined}  Tensor& self = *this;\n  if (is_in_graph({operands})) [[unlikely]] {{\n"
                     f"    const Value values[] = {{{names}}};\n    with_history().call_inplace(Op::{op.block}, values);\n  }} else {{\n    plain::{op.stem}_inplace({names});\n  }}\n  return self;\n}}")  # fmt: skip
    return lines


def driven_definition(op):
    dtype = "dtype" if any(parameter.name == "dtype" for parameter in op.parameters) else "{}"
    call = f"fold_states(Op::{op.block}, {op.result_count}, self, dim.view(), keepdim, {dtype})"
    result = f"as_tuple<{op.result_count}>({call})" if op.result_names else f"{call}[0]"
    return f"{op.cpp_result()} plain::{op.block}{op.cpp_parameters()} {{ return {result}; }}"


def algorithm_out(op, names, operands):
    outs = ", ".join(op.out_names())
    if op.facts.get("by_hand"):
        return f"  return plain::{op.stem}_out({outs}, {names});"
    checks = "".join(f"  check_unrecorded(Op::{op.block}, {out}, {operands});\n" for out in op.out_names())
    if not op.result_names:
        return f"{checks}  return write_result(Op::{op.block}, out, plain::{op.block}({names}));"
    addresses = ", ".join("&" + out for out in op.out_names())
    return (f"{checks}  Tensor* const outs[] = {{{addresses}}};\n"
            f"  write_results(Op::{op.block}, outs, as_list(plain::{op.block}({names})));\n  return {{{outs}}};")  # fmt: skip


def plain_h(ops):
    lines = ["// dispatch: the algorithms behind ops that have no formula. Below every question of history.", HEAD + "#pragma once", "#include <tuple>", "",
             '#include "tenon/list.h"', '#include "tenon/tensor.h"', "", "namespace tenon::plain {", ""]  # fmt: skip
    for op in ops:
        if op.is_called:
            lines.append(f"{op.cpp_result()} {op.block}{op.cpp_parameters()};")
            if op.facts.get("by_hand") and op.has_out:
                lines.append(f"{op.out_result()} {op.stem}_out{op.cpp_parameters(out=True)};")
            if op.has_inplace:
                lines.append(f"void {op.stem}_inplace{op.cpp_parameters()};")
    return "\n".join([*lines, "", "}  // namespace tenon::plain", ""])


def algorithms_inc(ops):
    lines = [HEAD + "constexpr Algorithm kAlgorithms[] = {"]
    for op in ops:
        if not op.is_called:
            continue
        values = ", ".join(op.type_of(p).value.format(i, p.cpp_default() or "0") for i, p in enumerate(op.parameters))
        call = op.listed(f"plain::{op.block}({values})")
        reads = derivatives_of(op)
        inplace = f"[](const Value* values) {{ plain::{op.stem}_inplace({values}); }}" if op.has_inplace else "nullptr"
        lines.append(f"    {{Op::{op.block}, [](const Value* values) -> List<Tensor> {{ return {call}; }}, {inplace}, {{{', '.join(str(reads.get(i, 0)) for i in range(3))}}}}},")
    return "\n".join([*lines, "};", ""])


def computation(op, form):
    """The call that computes one form."""
    values = ["*this" if form == "inplace" and parameter.name == "self" else parameter.name for parameter in op.parameters]
    if op.facts.get("by_hand"):
        target = {"functional": "{}", "out": "{kOut, &out}", "inplace": "{kInplace, this}"}[form]
        return f"by_hand::{op.block}({', '.join([target, *values])})"
    suffix = {"functional": "", "out": "_out", "inplace": "_inplace"}[form]
    written = {"functional": "", "out": "out, ", "inplace": "*this, "}[form]
    if op.kind == "fold":
        dtype = "dtype" if any(parameter.name == "dtype" for parameter in op.parameters) else "{}"
        return f"reduce{suffix}(Op::{op.block}, {written}{values[0]}, dim.view(), keepdim, {dtype})"
    return f"elementwise{suffix}(Op::{op.block}, {written}{', '.join(f'Arg({value})' if is_made(op, parameter, value) else value for parameter, value in zip(op.parameters, values))})"


def is_made(op, parameter, value):
    return value == "*this" or op.type_of(parameter).cpp != "const Arg&"


def by_name(ops):
    """The blocks of each public name, in the order of their files."""
    names = {}
    for op in ops:
        names.setdefault(op.name, []).append(op)
    return {name: sorted(blocks, key=lambda op: (op.file, op.place)) for name, blocks in sorted(names.items())}


def quoted(lines):
    return "\n      ".join(json.dumps(line + ("" if last else "\n"), ensure_ascii=False) for line, last in
                           ((line, i + 1 == len(lines)) for i, line in enumerate(lines)))  # fmt: skip


def python_call(op):
    """Statements that call one block's function with a call's arguments."""
    reads = [op.python_read(parameter) for parameter in op.parameters]
    lines = []
    named = f"ResultType::{op.name}, " if any(op.result_names) else ""
    if op.has_out:
        count = op.result_count
        taken = ["call.tensor(Name::out)"] if not op.result_names else [f"*outs[{i}]" for i in range(count)]
        names = ", ".join(op.out_names())
        lines += [
            "if (call.has(Name::out)) {",
            *[f"  const auto outs = call.outs<{count}>();"] * bool(op.result_names),
            f"  run(call, []({op.out_parameters()}, const auto&... arguments) {{ tenon::{op.name}_out({names}, arguments...); }}, {', '.join([*taken, *reads])});",
            f"  return {f'give_outs({named}call)' if op.result_names else 'call.returned()'};",
            "}",
        ]
    give = "give_same(call, " if op.facts.get("keeps_real") else f"give({named}"
    lines.append(f"return {give}run(call, [](const auto&... arguments) {{ return tenon::{op.name}(arguments...); }}, {', '.join(reads)}));")
    return lines


def results_inc(ops):
    """The named tuples of Python: X(max, "values", "indices")."""
    named = {op.name: op.result_names for op in ops if any(op.result_names)}
    return HEAD + "#define TENON_RESULT_TYPES(X)" + "".join(f" X({name}, {', '.join(map(json.dumps, fields))})" for name, fields in sorted(named.items())) + "\n"


def overloaded(blocks, call):
    """The signatures of several blocks, and statements that call the one whose signature fits."""
    signatures, body = [], []
    for op in blocks:
        signatures += op.python_signatures()
        body += call(op) if op is blocks[-1] else [f"if (call.overload() < {len(signatures)}) {{", *call(op), "}"]
    return signatures, body


def python_inplace_call(op):
    reads = ["call.tensor(Name::input)"] + [op.python_read(parameter) for parameter in op.parameters if parameter.name != "self"]
    return [f"run(call, [](Tensor& self, const auto&... arguments) {{ self.{op.name}_(arguments...); }}, {', '.join(reads)});", "return again(call.self());"]


def definition(name, binding, doc, blocks, call):
    signatures, body = overloaded(blocks, call)
    return "\n".join([f'  {{"{name}", Binding::{binding},\n      {quoted(signatures)},\n      {json.dumps(doc, ensure_ascii=False)},\n      [](const Call& call) -> PyObject* {{',
                      *("        " + line for line in body), "      }},"])  # fmt: skip


def python_inc(ops):
    lines = [HEAD + "constexpr Definition kOps[] = {"]
    inplace = [HEAD + "constexpr Definition kInplaceOps[] = {"]
    for name, blocks in by_name([op for op in ops if op.facts.get("python") != ""]).items():
        binding = "both" if any(op.is_method for op in blocks) else "function"
        doc = next(op.facts["doc"] for op in blocks if op.facts.get("doc"))
        lines.append(definition(name, binding, doc, blocks, python_call))
        written = [op for op in blocks if op.has_inplace]
        if written:
            inplace.append(definition(name + "_", "method", "In place: the tensor never changes shape.", written, python_inplace_call))
    return "\n".join([*lines, "};", "", *inplace, "};", ""])


def standard_py(ops):
    """The ops by other libraries' names, for Python."""
    imported = sorted(f"{op.name} as {op.array_api_name()}" for op in ops if op.array_api_name())
    numpy = sorted((name, op.name) for op in ops for name in op.numpy_names())
    head = '"""Written by tools/ops.py from the declarations in src/ops/: the ops by the names of the array API and of NumPy."""\n\n'
    return head + f"from tenon import {', '.join(imported)}\n\n# NumPy's name: Tenon's.\n_NUMPY = {json.dumps(dict(numpy))}\n"


def names_inc(ops, known):
    """Names of arguments that no definition by hand has."""
    names = []
    for op in ops:
        for parameter in op.parameters:
            if parameter.name not in known and parameter.name not in names:
                names.append(parameter.name)
    return HEAD + "#define TENON_OP_ARGUMENT_NAMES(X)" + "".join(f" X({name})" for name in sorted(names)) + "\n"


def symbols_def(ops):
    """TENON_SYMBOL(add, +), TENON_COMPARISON(eq, ==), TENON_UNARY_SYMBOL(neg, -): the ops that have an operator.
    TENON_TENSOR_SYMBOL(matmul): those that take no numbers."""
    lines = [HEAD]
    for op in ops:
        if op.facts.get("symbol") and op.kind == "algorithm":
            lines.append(f"TENON_TENSOR_SYMBOL({op.name})\n")
        elif op.facts.get("symbol"):
            macro = "TENON_UNARY_SYMBOL" if len(op.operands()) == 1 else "TENON_COMPARISON" if op.is_comparison else "TENON_SYMBOL"
            lines.append(f"{macro}({op.name}, {op.facts['symbol']})\n")
    return "".join(lines)


def schemas_inc(ops):
    lines = [HEAD]
    for op in ops:
        parameters = ", ".join(
            f'{{"{p.name}", "{p.type}", {json.dumps(p.default) if p.default is not None else "nullptr"}, {"true" if p.keyword_only else "false"}, {"true" if "|" in op.type_of(p).python else "false"}}}'
            for p in op.parameters)  # fmt: skip
        lines.append(f"constexpr Parameter kParameters_{op.name}_{op.block}[] = {{{parameters}}};")
    lines.append("\nconstexpr Schema kSchemas[] = {")
    for op in sorted(ops, key=lambda op: op.name):
        values = [op.type_of(p).value.format(i, p.cpp_default() or "0") for i, p in enumerate(op.parameters)]
        joined = ", ".join(values)
        plain = op.listed(f"tenon::{op.name}({joined})")
        outs = ", ".join(f"outs[{i}]" for i in range(op.result_count))
        out = f"[](const Value* values, Tensor* outs) {{ {op.name}_out({outs}, {joined}); }}" if op.has_out else "nullptr"
        of_self = next((i for i, p in enumerate(op.parameters) if p.name == "self"), 0)
        rest = ", ".join(value for i, value in enumerate(values) if i != of_self)
        inplace = f"[](const Value* values) {{ Tensor self = values[{of_self}].tensor(); self.{op.name}_({rest}); }}" if op.has_inplace else "nullptr"
        method = f"[](const Value* values) -> List<Tensor> {{ return {op.listed(f'values[{of_self}].tensor().{op.name}({rest})')}; }}" if op.is_method else "nullptr"
        doc, shapes = (json.dumps(op.facts.get(fact, ""), ensure_ascii=False) for fact in ("doc", "shapes"))
        lines.append(
            f'    {{"{op.name}", "{op.block}", {json.dumps(op.facts["signature"])}, {doc}, "{op.kind}", {shapes}, {op.number}, kParameters_{op.name}_{op.block}, {len(op.parameters)}, {op.result_count},\n'
            f"     [](const Value* values) -> List<Tensor> {{ return {plain}; }},\n     {method},\n     {out},\n     {inplace}}},")  # fmt: skip
    return "\n".join([*lines, "};", ""])


def write(path, text):
    """Leaves a file alone that says the same, so that nothing is compiled again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def generate(folder, names):
    ops, files = read_ops()
    public = public_ops(ops)
    declared = [op for op in public if op.name not in op.aliases()]
    known = set(re.findall(r"\bX\((\w+)\)", pathlib.Path(names).read_text(encoding="utf-8"))) if names else set()
    for path, text in {
        "include/tenon/functions.h": functions_h(public),
        "include/tenon/methods.inc": methods_inc(public),
        "src/ops/list.def": list_def(ops),
        "src/ops/blocks.inc": blocks_inc(files),
        "src/ops/symbols.def": symbols_def(public),
        "src/dispatch/ops.inc": ops_inc(public),
        "src/dispatch/schemas.inc": schemas_inc(public),
        "src/dispatch/plain.h": plain_h(declared),
        "src/dispatch/algorithms.inc": algorithms_inc(declared),
        "src/python/ops.inc": python_inc(public),
        "src/python/names.inc": names_inc(public, known),
        "src/python/results.inc": results_inc(public),
        "src/python/tenon/_standard.py": standard_py(public),
    }.items():
        write(pathlib.Path(folder) / path, text)


def described(op):
    return {"name": op.name, "block": op.block, "kind": op.kind, "result": op.result, "has_out": op.has_out, "is_method": op.is_method,
            "has_inplace": op.has_inplace, "facts": op.facts, "parameters": [dataclasses.asdict(parameter) for parameter in op.parameters]}  # fmt: skip


PROMOTION = {
    "common": "the operands' common dtype",
    "int_to_float": "the operands' common dtype; of integers and bool the default dtype",
    "bool_to_int": "the operands' common dtype; of bool int64",
    "comparison": "bool, compared in the operands' common dtype",
    "logical": "bool; every element is asked whether it is not 0",
    "select": "the common dtype of all but the condition",
    "sum": "the input's dtype; integers and bool are summed in int64",
}
DTYPES = {
    "kUsual": "all but uint16, uint32, uint64 and complex ones", "kUsual | kComplex": "all but uint16, uint32 and uint64",
    "kAllIntegers": "integers and bool", "kUsualIntegers": "uint8 and signed integers",
    "kUsualIntegers | set_of(bool_)": "uint8, signed integers and bool", "kAllDtypes": "all", "kAllReal": "all but complex ones",
    "kAllNumbers": "all but bool and complex ones",
    "kNoBool": "all but bool, uint16, uint32, uint64 and complex ones", "kNoBool | kComplex": "all but bool, uint16, uint32 and uint64",
    "kFloats": "floating", "kInexact": "floating and complex",
}  # fmt: skip


def source_of(op, root):
    """The formulas of a block by name: the names of the parameters, and the body."""
    text = (root / "src" / "ops" / op.file).read_text(encoding="utf-8")
    block = text[op.place : text.index("\n};", op.place)]
    found = re.findall(r"static \S+ (\w+)\(([^)]*)\) \{\n(.*?)\n  \}", block, re.S)
    return {name: ([part.split()[-1] for part in parameters.split(",")], " ".join(body.split())) for name, parameters, body in found}


def readable(body, names):
    """A formula with the names of the signature: "grad * other"."""
    body = re.sub(r"g\.(grad|result|zero|sizes|part_sizes)\(\)", r"\1", body)
    body = re.sub(r"g\.is_column_major\(\d\) \? [^:]* : ", "", body)
    body = re.sub(r'(?<!= )g\.(?:integer|number|boolean|dims)\("(\w+)"[^()]*\)', r"\1", body).replace('g.grad_unless("reduce")', "grad")
    for short, name in names.items():
        body = re.sub(rf"\bg\.{short}\(\)|(?<![.\w]){short}\b", name, body)
    return re.sub(r"^return (.*);$", r"\1", body) if body.count(";") == 1 else body


def reference(ops, root=ROOT):
    """A section a name: signatures, formula, promotion, dtypes, derivatives, accuracy."""
    lines = [
        "# Reference",
        "",
        "<!-- Written by `tools/ops.py reference` from the declarations in src/ops/. Changes belong there. -->",
        "",
        "Every declared op. In Python `self` is called `input`; [python.md](python.md) has what is there beside them.",
        "Derivatives are given before they are summed to the argument's shape.",
    ]
    public = public_ops(ops)
    forms = {op.block: op for op in ops if not op.is_public}
    for name, blocks in by_name(public).items():
        if name in blocks[0].aliases():
            lines += ["", f"## {name}", "", blocks[0].facts["doc"]]
            continue
        lines += ["", f"## {name}", "", next(op.facts["doc"] for op in blocks if op.facts.get("doc"))]
        for op in blocks:
            lines += ["", f"`{op.facts['signature']}`", ""]
            lines += section(op, root)
            for block, form in forms.items():
                if op.facts.get("by_hand") and form.facts.get("name") == name:
                    lines += [f"- as `{block}`: {'; '.join(formulas(form, op.parameters, root))}"]
    return "\n".join([*lines, ""])


def formulas(op, parameters, root):
    """ "`self * other`", "by self: `grad * other`"; a fold's with the names that it has itself."""
    sources, parts = source_of(op, root), []
    names = [parameter.name for parameter in parameters if parameter.is_operand() or parameter.is_list() or parameter.type == "Scalar"]
    if "forward" in sources:
        own, body = sources["forward"]
        parts.append(f"`{readable(body, dict(zip(own, names)) if op.kind == 'map' else {})}`")
    for letter, name in zip("abcd", names):
        if "grad_" + letter in sources:
            parts.append(f"by {name}: `{readable(sources['grad_' + letter][1], dict(zip('abcd', names)))}`")
    return parts


def section(op, root):
    facts = op.facts
    forms = [f"`{op.name}`"] + [f"`Tensor.{op.name}`"] * op.is_method + [f"`Tensor.{op.name}_`"] * op.has_inplace + ["`out=`"] * op.has_out
    lines = [f"- forms: {', '.join(forms)}"]
    title = "joins two partial results" if op.kind == "fold" else "formula"
    lines += [f"- {'derivative ' + part if part.startswith('by ') else title + ': ' + part}" for part in formulas(op, op.parameters, root)]
    if not op.is_called:
        lines += [f"- result: {PROMOTION[facts.get('promotion', 'Promotion::common').removeprefix('Promotion::')]}"]
        dtypes = facts.get("dtypes", "kUsual")
        lines += [f"- dtypes: {DTYPES.get(dtypes, f'`{dtypes}`')}"]
    if facts.get("ulp"):
        lines += [f"- largest error: {float(facts['ulp']):g} ulp in float32 and float64"]
    if facts.get("domain"):
        lines += [f"- domain: {facts['domain']}"]
    names = [f"`{op.array_api_name()}` in the array API"] * bool(op.array_api_name()) + [f"`numpy.{name}`" for name in op.numpy_names()]
    return lines + [f"- elsewhere: {', '.join(names)}"] * bool(names)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("generate")
    command.add_argument("folder")
    command.add_argument("--names")
    commands.add_parser("list")
    commands.add_parser("reference")
    options = parser.parse_args()
    if options.command == "generate":
        generate(options.folder, options.names)
    elif options.command == "reference":
        print(reference(read_ops()[0]), end="")
    else:
        json.dump([described(op) for op in public_ops(read_ops()[0])], sys.stdout, indent=1)


if __name__ == "__main__":
    main()
