"""docs/reference.md: for each name its signatures, formulas, result, dtypes and derivatives."""
import dataclasses
import re

from generator import dtypes
from generator.blocks import by_name, doc_of, public_ops

NO_FORMULA = {"algorithm": "none; an algorithm computes it", "fold": "none; the partial results are not elements"}
SHARED = ("values", "signature", "one_dtype")  # facts that an op's variants have from it
CONSTANTS = {"kInfinity": "inf", "kLog2": "log(2)", "kLog10": "log(10)", "k2BySqrtPi": "(2 / sqrt(pi))", "kSqrtPiBy2": "(sqrt(pi) / 2)", "kSqrt2Pi": "sqrt(2 * pi)", "kSqrt2ByPi": "sqrt(2 / pi)", "kSqrtHalf": "sqrt(0.5)", "3.14159265358979323846": "pi"}


def reference(ops, views):
    lines = [
        "# Reference",
        "",
        "<!-- Written by `tools/ops.py reference` from the declarations in src/ops/. Changes belong there. -->",
        "",
        "Every declared op and view. In Python `self` is called `input`; [python.md](python.md) has what is there beside them.",
        "",
        "- **dtypes**: those of the input. Of several operands, what they promote to; where it says \"one for all operands\",",
        "  nothing is promoted.",
        "- **result**: its dtype.",
        "- **derivative**: before it is summed to the argument's shape.",
        "- In formulas, `choose(c, a, b)` is a where c is true, otherwise b; `mul_add(a, b, c)` is a * b + c, rounded once.",
    ]
    variants = [op for op in ops if not op.is_public]
    for name, blocks in by_name(public_ops(ops) + views).items():
        lines += ["", f"## {name}", "", doc_of(blocks)]
        if blocks[0].is_alias:
            continue
        for op in blocks:
            lines += ["", f"`{op.facts['signature']}`", "", *own_doc(op, blocks), *section(op, ops)]
            if op.is_by_hand:
                lines += [variant_item(variant, op) for variant in variants if variant.facts.get("name") == name]
    return "\n".join([*lines, ""])


def own_doc(op, blocks):
    """The line of an overload that says something else than the name's."""
    doc = op.facts.get("doc")
    return [doc, ""] if doc and doc != doc_of(blocks) else []


def formulas_of_next_results(op, ops):
    """The formulas of the results of a map behind the first one."""
    blocks, facts, last = {other.block: other for other in ops}, {}, op
    for name in op.result_names[1:] if op.has_several_results else []:
        last = blocks[last.facts["next_result"].removeprefix("Op::")]
        facts[f"formula of {name}"] = formulas(last, op.parameters)[""]
    return facts


def section(op, ops):
    """One line for each fact that the op has."""
    facts = {"forms": ", ".join(forms(op)), "formula": NO_FORMULA.get(op.kind if op.has_plain_function else None)}
    for operand, formula in formulas(op, op.parameters).items():
        facts[formula_title(op, operand)] = formula
    facts |= formulas_of_next_results(op, ops)
    if op.kind != "view":
        facts |= {**dtypes.results(op), "dtypes": dtypes.operands(op)}
    if op.facts.get("ulp"):
        facts["largest error"] = f"{float(op.facts['ulp']):g} ulp in float32 and float64"
    facts |= {"domain": op.facts.get("domain"), "elsewhere": ", ".join(other_names(op))}
    return [f"- {title}: {text}" for title, text in facts.items() if text]


def forms(op):
    module = op.module + "." if op.is_in_submodule else ""
    has_form = {
        f"`{module}{op.name}`": op.is_function,
        f"`Tensor.{op.name}`": op.is_method,
        f"`{'Tensor.' if op.is_method else module}{op.name}_`": op.has_inplace,
        "`out=`": op.has_out,
    }
    return [form for form, has in has_form.items() if has]


def other_names(op):
    standard = [f"`{op.array_api_name()}` in the array API"] if op.array_api_name() else []
    return standard + [f"`numpy.{name}`" for name in op.numpy_names()]


def variant_item(variant, op):
    """The formulas of one of the blocks between which `op` chooses."""
    found = formulas(variant, op.parameters)
    parts = [f"by {operand}: {formula}" if operand else formula for operand, formula in found.items()]
    called = dataclasses.replace(variant, facts={**variant.facts, **{fact: op.facts[fact] for fact in SHARED if fact in op.facts}})
    if dtypes.operands(called) != dtypes.operands(op):
        parts.append(f"dtypes {dtypes.operands(called)}")
    if dtypes.results(called) != dtypes.results(op):
        parts.append(f"result {dtypes.results(called)['result']}")
    return f"- as `{variant.block}`: {'; '.join(parts)}"


# --- Formulas


def formula_title(op, operand):
    if operand:
        return f"derivative by {operand}"
    if op.has_several_results:
        return f"formula of {op.result_names[0]}"
    return "joins two partial results" if op.kind == "fold" else "formula"


def formulas(op, parameters):
    """The forward formula by "", each derivative by its operand's name. Formulas use the names of `parameters`."""
    names = [p.name for p in parameters if p.is_operand() or p.is_list() or p.type == "Scalar"]
    found = {}
    if "forward" in op.formulas:
        own_names, body = op.formulas["forward"]
        names += own_names[len(names) :]  # arguments that the op computes itself
        # The arguments of a fold's formula are partial results, not operands.
        found[""] = readable(op, body, dict(zip(own_names, names)) if op.kind == "map" else {})
    for letter, name in zip("abcd", names):
        if "grad_" + letter in op.formulas:
            _, body = op.formulas["grad_" + letter]
            if "not_implemented(" in body:
                continue
            found[name] = readable(op, body, dict(zip("abcd", names)))
    return {operand: f"`{formula}`" for operand, formula in found.items()}


def readable(op, body, names):
    """A formula without the calls of C++, with the signature's names for its own: "grad * other"."""
    body = re.sub(r"g\.is_column_major\(\d\) \? [^:]* : ", "", body)
    body = re.sub(r'g\.(?:integer|number|boolean|dims)\("(\w+)"[^()]*\)', r"\1", body)
    body = re.sub(r'g\.negative\("(\w+)"\)', r"-\1", body).replace('g.grad_unless("reduce")', "grad")
    body = re.sub(r"g\.result\((\d)\)", lambda match: op.result_names[int(match.group(1))] or "result", body)
    body = re.sub(r"g\.(grad|result|zero|sizes|part_sizes)\(\)", r"\1", body)
    for own, name in names.items():
        body = re.sub(rf"\bg\.{own}\(\)|(?<![.\w]){own}\b", name, body)
    body = re.sub(r"\bT\(([^()]*)\)", r"\1", body)
    body = re.sub(r"\bg\.|(?<=\()g, ", "", body)
    body = re.sub("|".join(rf"\b{re.escape(name)}\b" for name in CONSTANTS), lambda match: CONSTANTS[match.group()], body)
    return in_one_line(body)


def in_one_line(body):
    """ "const auto s = sine(a); return s * s;" as "s * s, where s = sine(a)"."""
    statements = [statement.strip() for statement in body.split(";") if statement.strip()]
    named = [re.sub(r"^const \w+ ", "", statement) for statement in statements if statement.startswith("const ")]
    named = [name for name in named if not re.fullmatch(r"(\w+) = \1", name)]
    value = next(statement.removeprefix("return ") for statement in statements if statement.startswith("return "))
    return value + (", where " + " and ".join(named) if named else "")
