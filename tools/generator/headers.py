"""include/tenon/: the public functions, operators and methods."""
from generator.cpp import CPP_OPERATORS, HEAD, out_result, parameter_list, result, wrapped


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
        lines += functions(op)
    lines.append("")
    for op in ops:
        lines += operators(op)
    return "\n".join([*lines, "", "}  // namespace tenon", ""])


def functions(op):
    lines = ["", f"/// {op.facts['doc']}"] if op.facts.get("doc") else []
    lines += wrapped(f"TENON_API {result(op)} {op.name}{parameter_list(op, with_defaults=True)};")
    if op.has_out:
        lines += wrapped(f"TENON_API {out_result(op)} {op.name}_out{parameter_list(op, with_defaults=True, out=True)};")
    return lines


def operators(op):
    symbol = op.facts.get("symbol")
    if not symbol or symbol not in CPP_OPERATORS:
        return []
    if len(op.operands()) == 1:
        return [f"inline Tensor operator{symbol}(const Tensor& self) {{ return {op.name}(self); }}"]
    pairs = [("const Tensor&", "const Tensor&"), ("const Tensor&", "Scalar"), ("Scalar", "const Tensor&")]
    lines = [f"inline Tensor operator{symbol}({a} a, {b} b) {{ return {op.name}(a, b); }}" for a, b in pairs]
    if not op.is_comparison:
        lines.append(f"inline Tensor& operator{symbol}=(Tensor& a, const Arg& b) {{ return a.{op.name}_(b); }}")
    return lines


def methods_inc(ops):
    lines = [HEAD + "// The ops as methods: part of class Tensor."]
    for op in ops:
        parameters = parameter_list(op, with_defaults=True, method=True)
        if op.is_method:
            lines.append(f"{result(op)} {op.name}{parameters} const;")
        if op.has_inplace:
            lines.append(f"Tensor& {op.name}_{parameters};")
    return "\n".join([*lines, ""])
