"""The facts of docs/reference.md, by calling every op with every dtype."""

import dataclasses
import pathlib
import re

import pytest
import declared
import tenon

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "reference.md"
DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128")
INTEGERS = DTYPES[:9]
WORDS = {"signed integers": DTYPES[2:6], "floating": DTYPES[9:13], "complex": DTYPES[13:]}  # the others are dtypes


@dataclasses.dataclass
class Entry:
    """A signature of the page and the facts below it."""

    name: str
    parameters: tuple  # "Tensor self"
    facts: dict

    def __str__(self):
        return f"{self.name}({', '.join(parameter.split()[-1] for parameter in self.parameters)})"


def entries():
    found = []
    for section in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.M)[1:]:
        for signature, text in re.findall(r"^`(\w+\([^\n]*) -> [^\n]*`\n(.*?)(?=^`|\Z)", section, re.S | re.M):
            name, _, inside = signature.removesuffix(")").partition("(")
            parameters = tuple(part.partition("=")[0] for part in inside.split(", ") if part not in ("*", "") and not part.endswith(" out=None"))
            found.append(Entry(name, parameters, dict(re.findall(r"^- ([\w ]+): (.*)$", text, re.M))))
    return found


ENTRIES = entries()
OPS = {(op.name, tuple(f"{parameter.type} {parameter.declared_name}" for parameter in op.parameters)): op for op in declared.OPS}
WITH_DTYPES = [entry for entry in ENTRIES if "dtypes" in entry.facts]


def accepted(words):
    """ "all but bool and complex" as names of dtypes."""
    words = words.partition("; ")[0]
    if words == "all":
        return set(DTYPES)
    if words.startswith("none"):
        return set()
    named = set()
    for word in re.split(", | and ", words.removeprefix("all but ")):
        named |= set(WORDS.get(word, {word}))
    assert named <= set(DTYPES), words
    return set(DTYPES) - named if words.startswith("all but ") else named


def result_dtype(words, dtype):
    """The dtype of a result of operands of `dtype`: "the input's dtype; of bool int64"."""
    plain, *special = words.split("; ")
    for clause in special:
        if clause == "of integers and bool the default dtype" and dtype in INTEGERS:
            return "float32"
        if clause == "of integers and bool that of the default dtype" and dtype in INTEGERS:
            return "complex64"
        if clause == "of integers and bool int64" and dtype in INTEGERS:
            return "int64"
        for of, given in re.findall(r"of (\w+) (\w+)(?:,|$)", clause):
            if of == dtype:
                return given
    return dtype if plain.endswith(("'s dtype", "operands' dtype", "common dtype", "without the condition's")) else plain


# The sizes of an operand, where they are not [2, 2].
SIZES = {
    **{(name, "input"): [2, 2, 2] for name in ("dsplit", "channel_shuffle", "pixel_shuffle", "pixel_unshuffle", "reflection_pad2d", "replication_pad2d")},
    **{(name, "input"): [2, 2, 2, 2] for name in ("reflection_pad3d", "replication_pad3d")},
    **{(name, "src"): [2] for name in ("as_strided_scatter", "diagonal_scatter", "select_scatter")},
    **{(name, "index"): [2] for name in ("index_copy", "index_fill", "index_reduce")},
    ("combinations", "input"): [2], ("vander", "x"): [2], ("index_fill", "value"): [], ("masked_fill", "value"): [],
    **{("repeat_interleave", name): [2] for name in ("input", "repeats")},
    **{(name, "q"): [2] for name in ("quantile", "nanquantile")},
    ("tensor_split", "tensor_indices_or_sections"): [2], ("bincount", "input"): [2], ("bucketize", "boundaries"): [2],
    **{("searchsorted", name): [2] for name in ("sorted_sequence", "input")},  # a number needs a vector
    **{(name, operand): [2, 3] for name in ("cross", "linalg_cross") for operand in ("input", "other")},
}  # fmt: skip
# Lists of integers that depend on the sizes.
LISTS = {("as_strided_scatter", "size"): [2], ("as_strided_scatter", "stride"): [1], ("expand_copy", "size"): [2, 2], ("permute_copy", "dims"): [1, 0]}


def arguments(op, dtype_names):
    """(positional, keywords) for a call whose operands have these dtypes, in turn."""
    positional, keywords, made = [], {}, 0
    for parameter in op.parameters:
        if parameter.type == "Tensor?":
            continue
        elif parameter.is_list:
            value = [tenon.ones(2, dtype=getattr(tenon, dtype_names[i % len(dtype_names)])) for i in range(2)]
        elif parameter.is_mask:
            value = tenon.ones(2, 2, dtype=getattr(tenon, dtype_names[0]) if op.name == "where" and len(op.parameters) == 1 else tenon.bool)
        elif parameter.is_index and parameter is not op.parameters[0]:
            value = tenon.zeros(SIZES[op.name, parameter.name] if (op.name, parameter.name) in SIZES else [2] if op.name in ("index_add", "index_select") or op.is_loss else [2, 2], dtype=tenon.int64)
        elif parameter.name == "pivots":
            value = tenon.ones(2, dtype=tenon.int32) * 2
        elif parameter.is_operand:
            sizes = op.sizes(parameter, lambda letter: 2) if op.shapes else SIZES.get((op.name, parameter.name), [2, 2])
            value = tenon.ones(sizes, dtype=getattr(tenon, dtype_names[made % len(dtype_names)]))
            if op.name.startswith("linalg_") and sizes[-2:] == [2, 2]:
                value = value + tenon.eye(2, dtype=value.dtype)  # positive definite
            made += 1
        elif parameter.name.startswith("return_"):  # one more result
            keywords[parameter.name] = True
            continue
        elif parameter.type == "float[]?":
            value = [0.0, 2.0]
        elif parameter.fallback is not None:
            continue
        elif parameter.type == "ScalarType":
            value = tenon.float32
        elif (op.name, parameter.name) in LISTS:
            value = LISTS[op.name, parameter.name]
        elif parameter.choices:
            value = parameter.choices[0]
        else:
            value = True if parameter.type == "bool" else [0] if parameter.type in ("int[]", "int[1]") else "fro" if parameter.type == "str" else 2 if parameter.name == "last_dim_size" else 0 if "dim" in parameter.name else 1
        if parameter.keyword_only:
            keywords[parameter.name] = value
        else:
            positional.append(value)
    return positional, keywords, made


def call(op, *dtype_names, **others):
    positional, keywords, _ = arguments(op, dtype_names)
    # Without these there is a warning.
    if op.name == "meshgrid":
        keywords["indexing"] = "ij"
    if op.name == "cross":
        keywords["dim"] = -1
    return declared.function(op.name)(*positional, **keywords, **others)


def wanted_results(entry, dtype, count):
    titles = [title for title in entry.facts if title.startswith("result ") or title.endswith(" result")] or ["result"] * count
    return [result_dtype(entry.facts[title], dtype) for title in titles]


def outcome(op, *dtype_names, **others):
    """The dtypes of the results, or the error."""
    try:
        result = call(op, *dtype_names, **others)
    except (RuntimeError, IndexError, TypeError) as error:
        return error
    return [str(one.dtype).rpartition(".")[2] for one in (result if isinstance(result, tuple) else (result,))]


def test_every_op_has_its_entry():
    page = {(entry.name, entry.parameters) for entry in ENTRIES}
    aliases = set(re.findall(r"^## (\w+)\n\nAnother name of", PAGE.read_text(encoding="utf-8"), re.M))
    assert {key for key in OPS if key[0] not in aliases} <= page


@pytest.mark.parametrize("entry", WITH_DTYPES, ids=str)
def test_dtypes(entry):
    op = OPS[entry.name, entry.parameters]
    for dtype in DTYPES:
        found = outcome(op, dtype)
        if dtype not in accepted(entry.facts["dtypes"]):
            assert isinstance(found, Exception), f"{entry} of {dtype}: refused on the page, but gives {found}"
            continue
        assert isinstance(found, list), f"{entry} of {dtype}: accepted on the page, but {found!r}"
        assert found == wanted_results(entry, dtype, len(found)), f"{entry} of {dtype} gives {found}"


@pytest.mark.parametrize("entry", [entry for entry in WITH_DTYPES if arguments(OPS[entry.name, entry.parameters], ("int32",))[2] > 1
                                   or OPS[entry.name, entry.parameters].parameters[0].is_list], ids=str)  # fmt: skip
def test_two_dtypes(entry):
    op, words = OPS[entry.name, entry.parameters], entry.facts["dtypes"]
    if words.startswith("none") or entry.name.startswith("atleast_"):  # each result has its tensor's dtype
        return
    low, high = ("int32", "int64") if "float32" not in accepted(words) else ("float32", "float64")
    found = outcome(op, low, high)
    if words.endswith("; one for all operands"):
        assert isinstance(found, Exception), f"{entry} of {low} and {high} gives {found}"
    else:
        follows_first = entry.facts["result"].startswith("the input's dtype")
        assert found == wanted_results(entry, low if follows_first else high, 1), f"{entry} of {low} and {high}: {found!r}"


@pytest.mark.parametrize("entry", [entry for entry in WITH_DTYPES if "`dtype` if given" in entry.facts.get("result", "")], ids=str)
def test_asked_dtype(entry):
    op = OPS[entry.name, entry.parameters]
    assert outcome(op, "float32", dtype=tenon.float64) == ["float64"]


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_forms(entry):
    functions, methods = ({name: texts for name, texts, _ in tenon._tenon._signatures(method)} for method in (False, True))
    for form in entry.facts["forms"].split(", "):
        if form == "`out=`":
            assert any(" out=None" in text for text in functions.get(entry.name, [declared.function(entry.name).__doc__.replace(" = ", "=")]))
        else:
            owner, _, name = form.strip("`").rpartition(".")
            found = {"Tensor": name in methods, "nn.functional": hasattr(tenon._tenon._nn, name), "": hasattr(tenon, name)}
            assert found[owner], form
