"""src/dispatch/: ops that a function plain::NAME computes: its declaration, and the public functions that call it.

The public functions add a node to the graph, or refuse an out= in one; plain::NAME only computes.
"""
import re

from generator.cpp import HEAD, argument_names, out_names, out_result, parameter_list, result
from generator.cpp import read_values, result_as_list, string


def plain_h(ops):
    lines = [
        "// dispatch: the algorithms behind ops that have no formula. Below every question of history.",
        HEAD + "#pragma once",
        "#include <tuple>",
        "",
        '#include "tenon/list.h"',
        '#include "tenon/tensor.h"',
        "",
        "namespace tenon::plain {",
        "",
    ]
    for op in ops:
        if op.has_plain_function:
            lines += declarations(op)
    return "\n".join([*lines, "", "}  // namespace tenon::plain", ""])


def declarations(op):
    lines = [f"{result(op)} {op.block}{parameter_list(op)};"]
    if op.is_by_hand and op.has_out:
        lines.append(f"{out_result(op)} {op.stem}_out{parameter_list(op, out=True)};")
    if op.has_inplace:
        lines.append(f"void {op.stem}_inplace{parameter_list(op)};")
    return lines


def algorithms_inc(ops):
    entries = [entry(op) for op in ops if op.has_plain_function]
    return "\n".join([HEAD + "constexpr Algorithm kAlgorithms[] = {", *entries, "};", ""])


def entry(op):
    values = ", ".join(read_values(op))
    call = result_as_list(op, f"plain::{op.block}({values})")
    function = f"[](const Value* values) -> List<Tensor> {{ return {call}; }}"
    inplace = f"[](const Value* values) {{ plain::{op.stem}_inplace({values}); }}" if op.has_inplace else "nullptr"
    reads = derivative_reads(op)
    bits = ", ".join(str(reads.get(place, 0)) for place in range(3))
    return f"    {{Op::{op.block}, {function}, {inplace}, {{{bits}}}, {'true' if reads else 'false'}}},"


def definitions(op):
    lines = []
    if op.uses_fold_driver and not op.is_alias:
        lines.append(fold_driver_call(op))
    if op.has_several_results and not op.is_alias:
        lines.append(several_results_call(op))
    lines.append(function_definition(op))
    if op.has_out:
        lines.append(out_definition(op))
    if op.has_inplace:
        lines.append(inplace_definition(op))
    return lines


def fold_driver_call(op):
    arguments = ", ".join([f"Op::{op.block}", str(op.result_count), *fold_arguments(op)])
    call = f"fold_states({arguments})"
    value = f"as_tuple<{op.result_count}>({call})" if op.result_names else f"{call}[0]"
    return f"{result(op)} plain::{op.block}{parameter_list(op)} {{ return {value}; }}"


def several_results_call(op):
    call = f"elementwise_results({several_results_arguments(op)})"
    return f"{result(op)} plain::{op.block}{parameter_list(op)} {{ return as_tuple<{op.result_count}>({call}); }}"


def several_results_arguments(op):
    arguments = [f"Arg({name})" for name in argument_names(op)]
    return ", ".join([f"Op::{op.block}", *arguments])


def fold_arguments(op):
    return [op.parameters[0].name, "dim.view()", "keepdim", "dtype" if op.has_parameter("dtype") else "{}"]


# --- Autograd


def derivative_reads(op):
    """What the derivative of each operand reads: bit i is operand i, bit 16 + i (Algorithm::kResults) is result i.

    An operand without an entry has no derivative.
    """
    reads = {}
    for place, letter in enumerate("abc"):
        if "grad_" + letter not in op.formulas:
            continue
        _, body = op.formulas["grad_" + letter]
        operands = [i for i, name in enumerate("abc") if f"g.{name}()" in body]
        results = [int(i or 0) for i in re.findall(r"g\.result\((\d*)\)", body)]
        reads[place] = sum({1 << i for i in operands} | {1 << (16 + i) for i in results})
    return reads


def differentiable(op):
    """The tensors with a derivative; all tensors of an op that is differentiated through the functions it calls."""
    reads = derivative_reads(op)
    return [name for place, name in enumerate(tensor_names(op)) if place in reads or not reads]


def tensor_names(op):
    lists = [parameter for parameter in op.parameters if parameter.is_list()]
    return [parameter.name for parameter in lists + op.operands()]


def check_others(op):
    """The other functions throw for an undefined tensor, but get the differentiable tensors only."""
    others = [name for name in tensor_names(op) if name not in differentiable(op)]
    if any(parameter.type == "Tensor?" for parameter in op.parameters):  # what is called checks its own operands, later
        others = [parameter.name for parameter in op.operands() if parameter.type == "Tensor"]
    return [f"  check_defined({', '.join(others)});"] if others else []


def function_definition(op):
    return "\n".join([
        f"{result(op)} {op.name}{parameter_list(op)} {{",
        *check_others(op),
        *(recording(op) if derivative_reads(op) or not calls_others(op) else []),
        f"  return plain::{op.block}({arguments_of(op)});",
        "}",
    ])  # fmt: skip


def arguments_of(op):
    return ", ".join(argument_names(op))


def recording(op):
    call = f"with_history().call(Op::{op.block}, values)"
    if op.result_names:
        call = f"as_tuple<{op.result_count}>({call})"
    elif not op.returns_list:
        call = f"std::move({call}[0])"
    is_node = f" && !({op.facts['composite_if']})" if "composite_if" in op.facts else ""
    return [
        f"  if ({records(op)}{is_node}) [[unlikely]] {{",
        f"    const Value values[] = {{{arguments_of(op)}}};",
        f"    return {call};",
        "  }",
    ]


def calls_others(op):
    """Whether an op without derivative calls functions that are recorded: those of numbers or lists of dims, but for folds."""
    return "Arg&" in parameter_list(op) and op.kind != "fold"


def records(op):
    if not derivative_reads(op):
        return f"is_traced({', '.join(tensor_names(op))})"
    optional = [parameter.name for parameter in op.parameters if parameter.type == "Tensor?" and parameter.name in differentiable(op)]
    given = [name for name in differentiable(op) if name not in optional]
    if not optional:
        return f"records({', '.join(given)})"
    return f"(records({', '.join(given)}) || records_given({', '.join(optional)}))"


def out_definition(op):
    return "\n".join([
        f"{out_result(op)} {op.name}_out{parameter_list(op, out=True)} {{",
        *check_others(op),
        *(out_by_hand(op) if op.is_by_hand else checked_out(op)),
        "}",
    ])  # fmt: skip


def out_by_hand(op):
    return [f"  return plain::{op.stem}_out({', '.join(out_names(op))}, {arguments_of(op)});"]


def checked_out(op):
    outs, operands = out_names(op), ", ".join(differentiable(op))
    if op.has_several_results:
        return checked_outs_of_map(op)
    checks = [f"  check_unrecorded(Op::{op.block}, {out}, {operands});" for out in outs]
    call = f"plain::{op.block}({arguments_of(op)})"
    first = f", &{differentiable(op)[0]}" if op.facts.get("no_overlap") else ""
    if not op.result_names:
        return [*checks, f"  return write_result(Op::{op.block}, out, {call}{first});"]
    return [
        *checks,
        f"  Tensor* const outs[] = {{{', '.join('&' + out for out in outs)}}};",
        f"  write_results(Op::{op.block}, outs, as_list({call}){first});",
        f"  return {{{', '.join(outs)}}};",
    ]


def checked_outs_of_map(op):
    outs = out_names(op)
    return [
        f"  const NamedOut outs[] = {{{', '.join(f'{{{string(out)}, &{out}}}' for out in outs)}}};",
        f"  elementwise_results_out(outs, {several_results_arguments(op)});",
        f"  return {{{', '.join(outs)}}};",
    ]


def inplace_definition(op):
    return "\n".join([
        f"Tensor& Tensor::{op.name}_{parameter_list(op, method=True)} {{",
        *check_others(op),
        "  Tensor& self = *this;",
        f"  if (is_in_graph({', '.join(differentiable(op))})) [[unlikely]] {{",
        f"    const Value values[] = {{{arguments_of(op)}}};",
        f"    with_history().call_inplace(Op::{op.block}, values);",
        "  } else {",
        f"    plain::{op.stem}_inplace({arguments_of(op)});",
        "  }",
        "  return self;",
        "}",
    ])  # fmt: skip
