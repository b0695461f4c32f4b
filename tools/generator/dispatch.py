"""src/dispatch/ops.inc: the definitions of every form of an op: the function, with out=, in place, the method."""
from typing import NamedTuple

from generator import algorithms
from generator.cpp import HEAD, argument_names, parameter_list, result


def ops_inc(ops):
    lines = [HEAD]
    for op in ops:
        lines += algorithms.definitions(op) if op.has_plain_function else definitions(op)
        if op.is_method:
            lines.append(method_definition(op))
    return "\n".join([*lines, ""])


def method_definition(op):
    names = ", ".join(argument_names(op, "*this"))
    head = f"{result(op)} Tensor::{op.name}{parameter_list(op, method=True)} const"
    return f"{head} {{ return tenon::{op.name}({names}); }}"


class Form(NamedTuple):
    suffix: str  # of the function in dispatch/ that computes it
    target: tuple  # what that function writes to
    by_hand: str  # what by_hand::NAME writes to
    self_name: str = "self"


FUNCTIONAL = Form("", (), "{}")
OUT = Form("_out", ("out",), "{kOut, &out}")
INPLACE = Form("_inplace", ("*this",), "{kInplace, this}", "*this")


def definitions(op):
    """Of a map, or of a fold without a State."""
    lines = [f"Tensor {op.name}{parameter_list(op)} {{ return {computation(op, FUNCTIONAL)}; }}"]
    if op.has_out:
        lines.append(f"Tensor& {op.name}_out{parameter_list(op, out=True)} {{ {computation(op, OUT)}; return out; }}")
    if op.has_inplace:
        parameters = parameter_list(op, method=True)
        lines.append(f"Tensor& Tensor::{op.name}_{parameters} {{ {computation(op, INPLACE)}; return *this; }}")
    return lines


def computation(op, form):
    """The call that computes one form."""
    names = argument_names(op, form.self_name)
    if op.is_by_hand:
        return f"by_hand::{op.block}({', '.join([form.by_hand, *names])})"
    if op.kind == "fold":
        function, arguments = "reduce", algorithms.fold_arguments(op)
    else:
        function, arguments = "elementwise", [as_arg(op, *pair) for pair in zip(op.parameters, names)]
    return f"{function}{form.suffix}({', '.join([f'Op::{op.block}', *form.target, *arguments])})"


def as_arg(op, parameter, name):
    is_arg = op.type_of(parameter).cpp == "const Arg&" and name != "*this"
    return name if is_arg else f"Arg({name})"
