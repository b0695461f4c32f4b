"""Which dtypes an op accepts and gives, from its facts; in words."""
import functools
import re

from generator.blocks import ROOT

# What the words mean, in the order in which they are written.
WORDS = {
    "bool": ["bool"],
    "uint8": ["uint8"],
    "signed integers": ["int8", "int16", "int32", "int64"],
    "uint16": ["uint16"],
    "uint32": ["uint32"],
    "uint64": ["uint64"],
    "floating": ["float16", "bfloat16", "float32", "float64"],
    "complex": ["complex64", "complex128"],
}
# Results whose name says the dtype.
DTYPE_OF_RESULT = {"indices": "int64", "exponent": "int32", "info": "int32", "pivots": "int32"}
DTYPE_OF_ASKED_RESULT = {"inverse": "int64", "counts": "int64"}
REAL_RESULTS = {"S", "logabsdet", "eigenvalues"}  # of complex operands, unless all results are complex


@functools.cache
def all_dtypes():
    """The dtypes in the order of their bits."""
    text = (ROOT / "include" / "tenon" / "dtype.h").read_text(encoding="utf-8")
    names = re.search(r"enum class Dtype : uint8_t \{(.*?)\}", text, re.S).group(1)
    return [name.rstrip("_") for name in re.findall(r"\w+", names)]


@functools.cache
def constants():
    """The sets that src/ops/row.h names, as bits."""
    text = (ROOT / "src" / "ops" / "row.h").read_text(encoding="utf-8")
    named = {"kDtypeCount": len(all_dtypes())}
    for name, value in re.findall(r"inline constexpr DtypeSet (\w+) = (.*?);", text):
        named[name] = bits_of(value, named)
    return named


def bits_of(expression, named):
    """`kUsual | set_of(bool_)` as bits. The operators are the same in Python; 1u is not."""
    dtypes = {name + "_" * (name == "bool"): name for name in all_dtypes()}
    names = {**named, **dtypes, "set_of": lambda dtype: 1 << all_dtypes().index(dtype)}
    return eval(re.sub(r"\b1u\b", "1", expression), {"__builtins__": {}}, names)


def names_of(expression):
    bits = bits_of(expression, constants())
    return {name for place, name in enumerate(all_dtypes()) if bits >> place & 1}


def accepted(op):
    """The dtypes that operands may have or promote to."""
    if "accepts" in op.facts:
        return names_of(op.facts["accepts"])
    accepted = names_of(op.facts.get("dtypes", "kUsual"))
    if op.promotion in ("int_to_float", "sum"):
        accepted |= names_of("kAllIntegers")
    if op.facts.get("keeps_real"):
        accepted |= names_of("kAllReal")
    if op.promotion == "logical" and op.kind == "fold":  # every element is compared with 0
        accepted |= names_of("kAllDtypes")
    if "refuses_bool" in op.facts:
        accepted -= {"bool"}
    return accepted - (names_of("kComplex") if "refuses_complex" in op.facts else set())


def in_words(names):
    """ "floating and complex", "all but bool", whichever is shorter."""
    if not names:
        return "none: no CPU code, as in PyTorch"
    parts = {}  # a group of which only some are accepted is named one by one
    for word, meant in WORDS.items():
        is_mixed = names & set(meant) and not set(meant) <= names
        parts.update({name: [name] for name in meant} if is_mixed else {word: meant})
    included = [word for word, meant in parts.items() if set(meant) <= names]
    excluded = [word for word in parts if word not in included]
    if not excluded:
        return "all"
    return "all but " + listed(excluded) if len(excluded) <= len(included) else listed(included)


def listed(words):
    return " and ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


# --- Results


def results(op):
    """The dtype of each result in words, by the title of its line."""
    complex_to_real = op.facts.get("complex_to_real", False)
    asked = [parameter.name.removeprefix("return_") for parameter in op.parameters if parameter.name.startswith("return_")]
    if asked and not any(op.result_names):  # unique: return_counts asks for the counts
        own = one_result(op, complex_to_real)
        return {"first result": own, **{f"result {name}": DTYPE_OF_ASKED_RESULT.get(name, own) for name in asked}}
    if not any(op.result_names):
        # Of two without a name, as of var_mean, the first is the real one.
        titles = ["result"] if not op.result_names else ["first result", "second result"]
        return {title: one_result(op, complex_to_real and title != "second result") for title in titles}
    real = REAL_RESULTS if op.promotion != "to_complex" else ()
    given = {f"result {name}": DTYPE_OF_RESULT.get(name) or one_result(op, complex_to_real or name in real) for name in op.result_names}
    return given if len(set(given.values())) > 1 else {"result": next(iter(given.values()))}


def one_result(op, complex_to_real):
    special = {
        "int_to_float": "of integers and bool the default dtype",
        "bool_to_int": "of bool int64",
        "sum": "of integers and bool int64",
    }
    if op.promotion == "place":
        return "int64"
    if op.promotion == "to_complex":
        of_integers = "; of integers and bool that of the default dtype" if "int64" in accepted(op) else ""
        of_complex = ", of complex64 complex64, of complex128 complex128" if "complex64" in accepted(op) else ""
        return f"complex; of float32 complex64, of float64 complex128{of_complex}{of_integers}"
    if op.promotion == "to_float64":
        return "float64; of complex64 complex128, of complex128 complex128"
    if op.promotion == "comparison":
        return "bool"
    if op.promotion == "logical":
        return "bool; of uint8 uint8" if op.kind == "fold" else "bool"
    parts = [operands_dtype(op)]
    if op.promotion in special:
        parts.append(special[op.promotion])
    if complex_to_real:
        parts.append("of complex64 float32, of complex128 float64")
    if op.has_parameter("dtype"):
        parts.append("`dtype` if given")
    return "; ".join(parts)


def operands_dtype(op):
    if not takes_several(op) or op.facts.get("as_input"):
        return "the input's dtype"
    if op.facts.get("one_dtype"):
        return "the operands' dtype"
    return "the operands' common dtype" + (", without the condition's" if op.promotion == "select" else "")


def takes_several(op):
    """Whether dtypes of several operands matter. Masks and indices have their own."""
    valued = [parameter for parameter in op.operands() if parameter.name not in ("condition", "mask", "index", "indices")]
    return len(valued) > 1 or any(parameter.is_list() for parameter in op.parameters)


def operands(op):
    """The accepted dtypes in words."""
    same = "; one for all operands" if op.facts.get("one_dtype") else ""
    return in_words(accepted(op)) + same
