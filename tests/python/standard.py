"""Calls of tenon.array_api and of array_api_strict, the standard's own implementation over NumPy, with the same arrays."""

import math
import warnings

import array_api_strict as strict
import numpy as np
import tenon

xp = tenon.array_api

INTEGERS = "uint8 uint16 uint32 uint64 int8 int16 int32 int64".split()
DTYPES = ["bool", *INTEGERS, "float32", "float64", "complex64", "complex128"]
NAN, INF = math.nan, math.inf
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.0, -3.0, 0.1, 7.25, 1e-3, 100.5, NAN, INF, -INF, 1e-30, -1e-30, 1e30]
PARTS = [0.0, -0.0, 1.0, -1.5, 0.5]
TOLERANCES = {"float32": 2e-6, "complex64": 1e-5, "float64": 1e-13, "complex128": 1e-12}


def values(dtype):
    """Numbers of a dtype, with those at its limits and special ones."""
    if dtype == "bool":
        return [False, True, True, False]
    if dtype in INTEGERS:
        limits = np.iinfo(dtype)
        return [0, 1, 2, 3, 7, limits.max // 2, limits.max // 2 + 1, limits.max - 1, limits.max, *([-1, -2, -7, limits.min] if limits.min else [])]
    return FLOATS if dtype.startswith("float") else [complex(a, b) for a in PARTS for b in PARTS]


def sample(dtype):
    return np.array(values(dtype), dtype=dtype)


def as_numpy(result):
    if isinstance(result, (tuple, list)):
        return [as_numpy(each) for each in result]
    return result.numpy() if isinstance(result, tenon.Tensor) else np.asarray(result)


def differences(ours, theirs, tolerance=None):
    """Where two arrays differ: in NaN, infinities, signs of zeros, or by more than the accuracy of their dtype."""
    if theirs.dtype.kind == "c":
        return differences(ours.real.copy(), theirs.real.copy(), tolerance) | differences(ours.imag.copy(), theirs.imag.copy(), tolerance)
    if theirs.dtype.kind != "f":
        return ours != theirs
    with np.errstate(all="ignore"):
        near = np.abs(ours - theirs) <= (tolerance or TOLERANCES[theirs.dtype.name]) * np.maximum(np.abs(ours), np.abs(theirs)) + (tolerance or 0)
    equal = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs)) | near
    signs = (not tolerance) & (ours == 0) & (theirs == 0) & (np.signbit(ours) != np.signbit(theirs))
    return ~equal | signs


def check(call, *arrays, allowed=lambda *arrays: False, tolerance=None):
    """The call gives both modules the same shapes, dtypes and elements. Whatever the standard's implementation refuses may be refused."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            theirs = as_numpy(call(strict, *(strict.asarray(np.array(array)) for array in arrays)))
        except (TypeError, ValueError):
            return
    ours = as_numpy(call(xp, *(tenon.from_numpy(np.array(array)) for array in arrays)))
    pairs = zip(ours, theirs, strict=True) if isinstance(theirs, list) else [(ours, theirs)]
    for a, b in pairs:
        assert a.shape == b.shape and a.dtype == b.dtype, f"{a.dtype}{a.shape}, not {b.dtype}{b.shape}"
        wrong = differences(a, b, tolerance) & ~np.asarray(allowed(*arrays))
        assert not wrong.any(), [(tuple(at), a[tuple(at)], "not", b[tuple(at)]) for at in np.argwhere(wrong)[:5]]
