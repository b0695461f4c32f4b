"""docs/reference.md: for each name its signatures, formulas, result, dtypes and derivatives."""
import re

from generator.blocks import by_name, doc_of, public_ops

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
    "kUsual": "all but uint16, uint32, uint64 and complex ones",
    "kUsual | kComplex": "all but uint16, uint32 and uint64",
    "kAllIntegers": "integers and bool",
    "kUsualIntegers": "uint8 and signed integers",
    "kUsualIntegers | set_of(bool_)": "uint8, signed integers and bool",
    "kAllDtypes": "all",
    "kAllReal": "all but complex ones",
    "kAllNumbers": "all but bool and complex ones",
    "kNoBool": "all but bool, uint16, uint32, uint64 and complex ones",
    "kNoBool | kComplex": "all but bool, uint16, uint32 and uint64",
    "kFloats": "floating",
    "kInexact": "floating and complex",
}


def reference(ops):
    lines = [
        "# Reference",
        "",
        "<!-- Written by `tools/ops.py reference` from the declarations in src/ops/. Changes belong there. -->",
        "",
        "Every declared op. In Python `self` is called `input`; [python.md](python.md) has what is there beside them.",
        "Derivatives are given before they are summed to the argument's shape.",
    ]
    variants = [op for op in ops if not op.is_public]
    for name, blocks in by_name(public_ops(ops)).items():
        lines += ["", f"## {name}", "", doc_of(blocks)]
        if blocks[0].is_alias:
            continue
        for op in blocks:
            lines += ["", f"`{op.facts['signature']}`", "", *section(op)]
            if op.is_by_hand:
                lines += [variant_item(variant, op) for variant in variants if variant.facts.get("name") == name]
    return "\n".join([*lines, ""])


def section(op):
    """One line for each fact that the op has."""
    facts = {"forms": ", ".join(forms(op))}
    for operand, formula in formulas(op, op.parameters).items():
        facts[formula_title(op, operand)] = formula
    if not op.has_plain_function:
        dtypes = op.facts.get("dtypes", "kUsual")
        facts |= {"result": PROMOTION[op.promotion], "dtypes": DTYPES.get(dtypes, f"`{dtypes}`")}
    if op.facts.get("ulp"):
        facts["largest error"] = f"{float(op.facts['ulp']):g} ulp in float32 and float64"
    facts |= {"domain": op.facts.get("domain"), "elsewhere": ", ".join(other_names(op))}
    return [f"- {title}: {text}" for title, text in facts.items() if text]


def forms(op):
    has_form = {
        f"`{op.name}`": True,
        f"`Tensor.{op.name}`": op.is_method,
        f"`Tensor.{op.name}_`": op.has_inplace,
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
    return f"- as `{variant.block}`: {'; '.join(parts)}"


# --- Formulas


def formula_title(op, operand):
    if operand:
        return f"derivative by {operand}"
    return "joins two partial results" if op.kind == "fold" else "formula"


def formulas(op, parameters):
    """The forward formula by "", each derivative by its operand's name. Formulas use the names of `parameters`."""
    names = [p.name for p in parameters if p.is_operand() or p.is_list() or p.type == "Scalar"]
    found = {}
    if "forward" in op.formulas:
        own_names, body = op.formulas["forward"]
        # The arguments of a fold's formula are partial results, not operands.
        found[""] = readable(body, dict(zip(own_names, names)) if op.kind == "map" else {})
    for letter, name in zip("abcd", names):
        if "grad_" + letter in op.formulas:
            _, body = op.formulas["grad_" + letter]
            found[name] = readable(body, dict(zip("abcd", names)))
    return {operand: f"`{formula}`" for operand, formula in found.items()}


def readable(body, names):
    """A formula without the calls of C++, with the signature's names for its own: "grad * other"."""
    body = re.sub(r"g\.(grad|result|zero|sizes|part_sizes)\(\)", r"\1", body)
    body = re.sub(r"g\.is_column_major\(\d\) \? [^:]* : ", "", body)
    body = re.sub(r'(?<!= )g\.(?:integer|number|boolean|dims)\("(\w+)"[^()]*\)', r"\1", body)
    body = body.replace('g.grad_unless("reduce")', "grad")
    for own, name in names.items():
        body = re.sub(rf"\bg\.{own}\(\)|(?<![.\w]){own}\b", name, body)
    return re.sub(r"^return (.*);$", r"\1", body) if body.count(";") == 1 else body
