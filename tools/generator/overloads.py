"""The signatures that Python's functions accept, in the grammar of src/python/arguments.h."""
import re

from generator.signature import TYPES, split_parameter


def python_signatures(op):
    """One for each overload."""
    declared = op.facts.get("python") or "(" + op.facts["signature"].partition("(")[2].rpartition(" -> ")[0]
    function_only = "" if op.facts.get("method", True) or op.kind == "view" else "|function"
    returned = "" if op.signature.result == "Tensor" else f" -> {op.signature.result}"
    lines = []
    for line in declared.split("\n"):
        inside, _, suffix = line[1:].rpartition(")")
        lines += [f"({text}){suffix}{function_only}{returned}" for text in overloads(op, inside)]
    return lines


def overloads(op, inside):
    """One with tensors and one with numbers for all "Tensor|Scalar" parameters.

    "Tensor|Scalar self, Tensor|Scalar other" has three: two tensors; a number and a tensor, no out=; a tensor and
    a number.
    """
    rest = inside.removeprefix("Tensor|Scalar self, ")
    if rest != inside:
        tensors, numbers = overloads(op, "Tensor self, " + rest)
        number_first, _ = overloads(op, "Scalar self, " + rest.replace(", *, Tensor out=None", ""))
        return [tensors, number_first, numbers]
    parts = [part.strip() for part in re.split(r",(?![^({]*[)}])", inside)]  # a default may be "(0,1)" or "{-2,-1}"
    choices = (0, 1) if "|" in inside else (0,)
    return [", ".join(python_parameter(op, part, choice) for part in parts) for choice in choices]


def python_parameter(op, text, choice):
    """A parameter as `arguments.h` reads it; `choice` is 1 for the number of "Tensor|Scalar"."""
    if text == "*" or text.endswith(" out=None"):
        return re.sub(r"\[\d\]", "s", text)  # "Tensor[2] out=None": "Tensors out=None"
    type_, name, default = split_parameter(text)
    if type_ == "Generator":  # Python alone has it
        return text
    types = TYPES[type_].python.split("|")
    python_type = types[min(choice, len(types) - 1)]
    if python_type == "Tensor":
        name = "input" if name == "self" else name
        python_type = "Operand" if op.facts.get("numbers_as_tensors") else "Tensor"
    return f"{python_type} {name}" + ("" if default is None else "=" + default.replace("'", '"'))
