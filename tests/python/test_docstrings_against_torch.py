"""The examples in the docstrings of PyTorch's ops print the same in both libraries."""

import contextlib
import doctest
import io
import math
import warnings

import pytest

torch = pytest.importorskip("torch")

import tenon

import declared
import judge

NAMESPACES = ("", "Tensor", "special", "nn.functional", "linalg", "fft")
# Parts of lines that print something else, and why.
DIFFERENT = {
    "cuda": "there is no such device",
    "is_conj()": "conj computes the conjugates at once",
    "to_sparse": "there are no sparse tensors",
    "narrow_copy(s, ": "the same",
    "x.sort()": "of equal elements, in the order that PyTorch does not promise",
    "plot_surface": "an address",
    "LA.": "from torch import linalg as LA",
    "torch.tan(a)": "near pi/2, where PyTorch's tangent has an error of more than a rounding",
}


OPS = {name.rpartition(".")[2] for name in declared.NAMES}


def inside(library, path):
    for part in path.split(".") if path else []:
        library = getattr(library, part)
    return library


def examples_of(path, name):
    """The examples of a function that both libraries have; none where PyTorch's do not parse."""
    text = getattr(getattr(inside(torch, path), name), "__doc__", None) or ""
    try:
        return doctest.DocTestParser().get_examples(text) if ">>>" in text else []
    except ValueError:
        return []


def with_examples():
    """One name for each docstring: aliases and methods repeat those of functions."""
    seen = set()
    for path in NAMESPACES:
        for name in sorted(set(dir(inside(tenon, path))) & set(dir(inside(torch, path)))):
            sources = tuple(example.source for example in examples_of(path, name))
            if name.rstrip("_") in OPS and sources and sources not in seen:
                seen.add(sources)
                yield f"{path}.{name}".lstrip(".")


def printed(source, names):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(compile(source, "<example>", "single"), names)
        except Exception as error:
            out.write(f"{type(error).__name__}: {error}")
    if names["torch"] is torch:
        judge.remember(caught)
    return out.getvalue().replace("torch", "tenon")


def names_for(library):
    library.manual_seed(0)
    library.set_default_dtype(library.float32)
    return {"torch": library, "math": math, "F": library.nn.functional, "nn": library.nn}


@pytest.mark.parametrize("name", list(with_examples()))
def test_examples_print_the_same(name):
    path, _, function = name.rpartition(".")
    theirs, ours = names_for(torch), names_for(tenon)
    for example in examples_of(path, function):
        wanted, got = printed(example.source, theirs), printed(example.source, ours)
        if not any(word in example.source for word in DIFFERENT):
            assert got == wanted, example.source
