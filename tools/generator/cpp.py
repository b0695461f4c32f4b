"""How an op's parameters, results and calls are written in C++."""
import json

# The symbols of ops that are operators of C++, too.
CPP_OPERATORS = set("+ - * / % & | ^ ~ << >> < <= == != > >=".split())
HEAD = "// Written by tools/ops.py from the declarations in src/ops/. Changes belong there.\n"


def string(text):
    """A string literal. JSON's escapes are also C++'s."""
    return json.dumps(text, ensure_ascii=False)


def boolean(value):
    return "true" if value else "false"


def wrapped(line):
    """Lines of at most 120 characters, broken after a comma and aligned with the first parameter."""
    lines, indent = [line], " " * (line.index("(") + 1)
    while len(lines[-1]) > 120:
        cut = lines[-1].rindex(", ", 0, 120) + 1
        lines[-1:] = [lines[-1][:cut], indent + lines[-1][cut + 1 :]]
    return lines


# --- Parameters


def parameter_list(op, with_defaults=False, out=False, method=False):
    """ "(const Tensor& self, int64_t dim)". With `out` the outputs come first; a method has no `self`."""
    parameters = [parameter for parameter in op.parameters if not (method and parameter.name == "self")]
    outputs = [out_parameters(op)] if out else []
    return "(" + ", ".join(outputs + [declared(op, parameter, with_defaults) for parameter in parameters]) + ")"


def declared(op, parameter, with_default):
    default = parameter.cpp_default() if with_default else ""
    return f"{op.type_of(parameter).cpp} {parameter.name}" + (f" = {default}" if default else "")


def argument_names(op, self_name="self"):
    """The arguments that pass on an op's parameters; a method passes `*this` for `self`."""
    return [self_name if parameter.name == "self" else parameter.name for parameter in op.parameters]


def read_values(op):
    """The arguments of a call by name: "values[0].tensor()", "values[1].number(1)"."""
    return [op.type_of(parameter).get(f"values[{place}]", default=parameter.cpp_default())
            for place, parameter in enumerate(op.parameters)]  # fmt: skip


# --- Results


def result(op):
    if op.result_names:
        return "std::tuple<" + ", ".join(["Tensor"] * op.result_count) + ">"
    return "List<Tensor>" if op.returns_list else "Tensor"


def result_as_list(op, call):
    """C++ that makes a List<Tensor> of a call's result."""
    if op.result_names:
        return f"as_list({call})"
    return call if op.returns_list else f"{{{call}}}"


def out_names(op):
    return [name or f"out{i}" for i, name in enumerate(op.result_names)] or ["out"]


def out_parameters(op):
    return ", ".join(f"Tensor& {name}" for name in out_names(op))


def out_result(op):
    return "std::tuple<" + ", ".join(["Tensor&"] * op.result_count) + ">" if op.result_names else "Tensor&"
