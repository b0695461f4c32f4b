"""Compares a call in PyTorch and in Tenon: result, shape, strides, dtype, values and warnings, or the error."""

import math
import re
import warnings

import numpy
import tenon
import torch

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")


class Both:
    """A value in Tenon (`ours`) and in PyTorch (`theirs`)."""

    def __init__(self, ours, theirs):
        self.ours, self.theirs = ours, theirs

    def __repr__(self):
        strides = f" strides {self.theirs.stride()}" if is_tensor(self.theirs) else ""
        return f"{self.theirs!r}{strides}"


def dtype(name):
    return Both(getattr(tenon, name), getattr(torch, name))


def tensor(values, dtype_name):
    return Both(tenon.tensor(values, dtype=getattr(tenon, dtype_name)), torch.tensor(values, dtype=getattr(torch, dtype_name)))


def view(both, change):
    return Both(change(both.ours), change(both.theirs))


def _pick(value, side):
    if isinstance(value, Both):
        return getattr(value, side)
    if isinstance(value, (list, tuple)):
        return type(value)(_pick(item, side) for item in value)
    if isinstance(value, dict):
        return {key: _pick(item, side) for key, item in value.items()}
    return value


def texts_of(caught):
    return [str(item.message).split(" (Triggered internally")[0] for item in caught]


def outcome(call, side, args, kwargs):
    """(result or exception, texts of the warnings) of a call in one library; `side` is "ours" or "theirs"."""
    module = tenon if side == "ours" else torch
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call(module, *_pick(args, side), **_pick(kwargs, side))
        except Exception as error:
            result = error
    texts = texts_of(caught)
    # PyTorch warns of these only once per process, whatever the text says then; of complex32 because it makes such a tensor.
    once = ("This overload of ", "Mismatch dtype between input and weight", "ComplexHalf support is experimental",
            "torch.set_default_tensor_type() is deprecated")
    texts = [text for text in texts if not text.startswith(once)]
    return result, list(dict.fromkeys(texts))  # PyTorch gives some warnings twice


def is_tensor(value):
    return isinstance(value, (tenon.Tensor, torch.Tensor))


def described(value):
    """A result without its elements, in a form that both libraries share."""
    if is_tensor(value):
        return ("tensor", str(value.dtype).split(".")[-1], tuple(value.shape), tuple(value.stride()))
    if isinstance(value, (tuple, list)):
        return (type(value).__name__, *[described(item) for item in value])
    if isinstance(value, (tenon.dtype, torch.dtype)):
        return str(value).split(".")[-1]
    return value


def values(value):
    if is_tensor(value) and not value.is_meta:
        is_exact = value.is_complex() or value.dtype in (torch.int64, tenon.int64)
        return numpy.array(value.detach().tolist() if is_exact else value.detach().double().tolist())
    if isinstance(value, (tuple, list)):
        return [values(item) for item in value]
    return described(value)


def same_values(ours, theirs, exact):
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(same_values(a, b, exact) for a, b in zip(ours, theirs))
    if isinstance(theirs, numpy.ndarray):
        if exact:
            return numpy.array_equal(ours, theirs, equal_nan=theirs.dtype.kind in "fc")
        return numpy.allclose(ours, theirs, rtol=3e-2 if exact is None else 1e-5, atol=1e-6, equal_nan=True)
    if isinstance(theirs, float) and math.isnan(theirs):
        return math.isnan(ours)
    return ours == theirs


_torch_warnings = set()  # all so far: PyTorch gives some warnings only once


def remember(caught):
    """Notes warnings that PyTorch gave outside of `same`, and may not give again."""
    _torch_warnings.update(texts_of(caught))


torch.set_warn_always(True)  # or a test that does not judge warnings may have been given the only one


WRONG_INDEX = re.compile(r"index -?\d+(?= is out of bounds for dimension)")


def same_error(ours, theirs):
    """Whether types and texts are equal. If Tenon's text is the documented one, PyTorch's text must be among its notes."""
    if type(ours).__name__ != type(theirs).__name__:
        return False
    text = str(theirs).split("\nException raised from")[0].split(" This could be because the operator doesn't exist")[0]
    if WRONG_INDEX.match(text) and WRONG_INDEX.match(str(ours)):  # of several wrong ones either may be named
        return WRONG_INDEX.sub("", text) == WRONG_INDEX.sub("", str(ours))
    return str(ours).rstrip('"') == text.rstrip('"') or text in getattr(ours, "__notes__", [])


def same(call, *args, exact=True, any_mistake=False, **kwargs):
    """Asserts that both libraries do the same. Returns Tenon's result, or None for an error.

    exact: True: equal elements; False: equal up to rounding; None: up to the roundings of 16-bit floats, which PyTorch does
        after every step of some functions.
    any_mistake: two different errors are accepted, because the call may have several mistakes.
    """
    theirs, their_warnings = outcome(call, "theirs", args, kwargs)
    ours, our_warnings = outcome(call, "ours", args, kwargs)
    _torch_warnings.update(their_warnings)
    if isinstance(theirs, Exception):
        if "INTERNAL ASSERT FAILED" in str(theirs):  # a bug of PyTorch
            return None
        assert isinstance(ours, Exception), f"PyTorch: {theirs!r}\nTenon gave {ours!r}"
        assert any_mistake or same_error(ours, theirs), f"PyTorch: {theirs!r}\nTenon:   {ours!r}"
        return None
    assert not isinstance(ours, Exception), f"PyTorch gave {theirs!r}\nTenon: {ours!r}"
    assert described(ours) == described(theirs), f"PyTorch: {described(theirs)}\nTenon:   {described(ours)}"
    assert same_values(values(ours), values(theirs), exact), f"PyTorch: {theirs}\nTenon:   {ours}"
    assert set(their_warnings) <= set(our_warnings) <= _torch_warnings, f"PyTorch: {their_warnings}\nTenon:   {our_warnings}"
    for argument in (*args, *kwargs.values()):  # arguments written in place
        if isinstance(argument, Both) and is_tensor(argument.ours):
            assert described(argument.ours) == described(argument.theirs)
            assert same_values(values(argument.ours), values(argument.theirs), exact)
    return ours
