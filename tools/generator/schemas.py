"""src/dispatch/schemas.inc: the ops by name, with their parameters and functions that take Values."""
from generator.cpp import HEAD, boolean, read_values, result_as_list, string


def schemas_inc(ops, views):
    names = {}  # by entries: ops of equal parameters share a list, whose addresses are a third of the library's relocations
    for op in ops + views:
        names.setdefault(parameter_entries(op), f"kParameters_{op.name.strip('_')}_{(op.block or str(op.place)).strip('_')}")
    lines = [HEAD, *(f"constexpr Parameter {name}[] = {{{entries}}};" for entries, name in names.items())]
    lines += ["\nconstexpr Schema kSchemas[] = {", *(schema(op, names) for op in ops), "};", ""]
    lines += ["\nconstexpr ViewSchema kViews[] = {", *(view(op, names) for op in views), "};", ""]
    return "\n".join(lines)


def view(op, names):
    fields = [
        string(op.name),
        string(op.facts["signature"]),
        string(op.facts.get("doc", "")),
        boolean(op.is_method),
        boolean(op.has_inplace),
        names[parameter_entries(op)],
        str(len(op.parameters)),
    ]
    return f"    {{{', '.join(fields)}}},"


def parameter_entries(op):
    return ", ".join(parameter_entry(op, parameter) for parameter in op.parameters)


def parameter_entry(op, parameter):
    fields = [
        string(parameter.name),
        string(parameter.type),
        "nullptr" if parameter.default is None else string(parameter.default),
        boolean(parameter.keyword_only),
        boolean("|" in op.type_of(parameter).python),  # whether it may be a number
        string(op.values_of(parameter)),
    ]
    return "{" + ", ".join(fields) + "}"


def schema(op, names):
    facts = [
        string(op.name),
        string(op.block),
        string(op.facts["signature"]),
        string(op.facts.get("doc", "")),
        string(op.kind),
        string(op.facts.get("shapes", "")),
        str(op.number),
        names[parameter_entries(op)],
        str(len(op.parameters)),
        str(op.result_count),
    ]
    calls = [function_call(op), method_call(op), out_call(op), inplace_call(op)]
    return "    {" + ",\n     ".join([", ".join(facts), *calls]) + "},"


def function_call(op):
    call = f"tenon::{op.name}({', '.join(read_values(op))})"
    return f"[](const Value* values) -> List<Tensor> {{ return {result_as_list(op, call)}; }}"


def method_call(op):
    if not op.is_method:
        return "nullptr"
    place, others = split_self(op)
    call = f"values[{place}].tensor().{op.name}({others})"
    return f"[](const Value* values) -> List<Tensor> {{ return {result_as_list(op, call)}; }}"


def out_call(op):
    if not op.has_out:
        return "nullptr"
    arguments = [f"outs[{i}]" for i in range(op.result_count)] + read_values(op)
    return f"[](const Value* values, Tensor* outs) {{ {op.name}_out({', '.join(arguments)}); }}"


def inplace_call(op):
    if not op.has_inplace:
        return "nullptr"
    place, others = split_self(op)
    return f"[](const Value* values) {{ Tensor self = values[{place}].tensor(); self.{op.name}_({others}); }}"


def split_self(op):
    """The place of `self`, and the other arguments."""
    place = [parameter.name for parameter in op.parameters].index("self")
    values = read_values(op)
    return place, ", ".join(values[:place] + values[place + 1 :])
