"""The names of the Python array API standard.

https://data-apis.org/array-api/latest
"""

import builtins
import collections

import tenon
from tenon import (
    Size, arange, asarray, bool, broadcast_to, can_cast, complex64, complex128, conj, device as Device, e, empty, empty_like, eye,
    finfo, float32, float64, from_dlpack, full, full_like, iinfo, imag, inf, int16, int32, int64, int8, linspace, moveaxis, nan,
    newaxis, ones, ones_like, pi, real, reshape, squeeze, uint16, uint32, uint64, uint8, zeros, zeros_like,
)  # fmt: skip

from .._standard import *
from . import fft, linalg

__array_api_version__ = "2025.12"


def namespace(api_version=None):
    import sys

    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        raise ValueError(f"the array API of {api_version} is not known")
    return sys.modules[__name__]


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    return tenon.argsort(x, dim=axis, descending=descending, stable=stable)


def astype(x, dtype, /, *, copy=True, device=None):
    return x.to(device=device, dtype=dtype, copy=copy)


def broadcast_arrays(*arrays):
    return tuple(tenon.broadcast_tensors(*arrays))


def broadcast_shapes(*shapes):
    return tuple(tenon.broadcast_shapes(*shapes))


def clip(x, /, min=None, max=None):
    return x.clone() if min is None and max is None else tenon.clamp(x, min, max)


def concat(arrays, /, *, axis=0):
    return tenon.cat([array.flatten() for array in arrays]) if axis is None else tenon.cat(arrays, axis)


def count_nonzero(x, /, *, axis=None, keepdims=False):
    return sum(x != 0, axis=axis, keepdims=keepdims) if keepdims else tenon.count_nonzero(x, axis)


def _cumulative(name, function, start, x, axis, dtype, include_initial):
    if axis is None and x.ndim != 1:
        raise ValueError(f"{name}: axis must be given for {x.ndim} dims")
    axis = 0 if axis is None else axis
    result = function(x, axis, dtype=dtype)
    if include_initial:
        sizes = list(result.shape)
        sizes[axis] = 1
        result = tenon.cat([full(sizes, start, dtype=result.dtype), result], axis)
    return result


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    return _cumulative("cumulative_prod", tenon.cumprod, 1, x, axis, dtype, include_initial)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    return _cumulative("cumulative_sum", tenon.cumsum, 0, x, axis, dtype, include_initial)


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    return tenon.diff(x, n, axis, prepend, append)


def expand_dims(x, /, *, axis=0):
    return x.unsqueeze(axis)


def flip(x, /, *, axis=None):
    return tenon.flip(x, tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, builtins.int) else axis)


def floor_divide(x1, x2, /):
    return x1 // x2


def isdtype(dtype, kind):
    kinds = {
        "bool": dtype is tenon.bool,
        "signed integer": dtype in (int8, int16, int32, int64),
        "unsigned integer": dtype in (uint8, uint16, uint32, uint64),
        "integral": dtype in (int8, int16, int32, int64, uint8, uint16, uint32, uint64),
        "real floating": dtype.is_floating_point,
        "complex floating": dtype.is_complex,
        "numeric": dtype is not tenon.bool,
    }
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, part) for part in kind)
    return kinds[kind] if isinstance(kind, str) else dtype is kind


def isin(x1, x2, /, *, invert=False):
    return tenon.isin(asarray(x1), asarray(x2), invert=invert)


def matrix_transpose(x, /):
    return x.mT


def mean(x, /, *, axis=None, keepdims=False):
    return tenon.mean(x, axis, keepdims)


def meshgrid(*arrays, indexing="xy"):
    return tuple(tenon.meshgrid(*arrays, indexing=indexing))


def nonzero(x, /):
    return tenon.nonzero(x, as_tuple=True)


def permute_dims(x, /, axes):
    return tenon.permute(x, axes)


def positive(x, /):
    return x.clone()


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    if axis is None and not keepdims or not x.ndim:
        return tenon.prod(x, dtype=dtype)
    dims = range(x.ndim) if axis is None else (axis,) if isinstance(axis, builtins.int) else axis
    for dim in dims:
        x = tenon.prod(x, dim, True, dtype=dtype)
    return x if keepdims else x.squeeze(tuple(dims))


def repeat(x, repeats, /, *, axis=None):
    return tenon.repeat_interleave(x, repeats, axis)


def result_type(*values):
    if len(values) == 1:
        return values[0] if isinstance(values[0], tenon.dtype) else values[0].dtype
    dtypes = [value if isinstance(value, tenon.dtype) else value.dtype if isinstance(value, tenon.Tensor) else value for value in values]
    common = None
    for value in dtypes:
        if isinstance(value, tenon.dtype):
            common = value if common is None else tenon.promote_types(common, value)
    for value in dtypes:
        if not isinstance(value, tenon.dtype):
            common = tenon.result_type(ones(1, dtype=common), value)
    return common


def roll(x, /, shift, *, axis=None):
    return tenon.roll(x, shift) if axis is None else tenon.roll(x, shift, axis)


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    return tenon.searchsorted(x1, x2, side=side, sorter=sorter)


def sort(x, /, *, axis=-1, descending=False, stable=True):
    return tenon.sort(x, dim=axis, descending=descending, stable=stable).values


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    return tenon.std(x, axis, correction=correction, keepdim=keepdims)


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    return tenon.sum(x, axis, keepdims, dtype=dtype)


def take(x, indices, /, *, axis=0):
    return x[(slice(None),) * (axis % x.ndim) + (indices,)]


def take_along_axis(x, indices, /, *, axis=-1):
    return tenon.take_along_dim(x, indices, axis)


def tensordot(x1, x2, /, *, axes=2):
    return tenon.tensordot(x1, x2, dims=axes)


def tile(x, repetitions, /):
    return tenon.tile(x, repetitions)


def tril(x, /, *, k=0):
    return tenon.tril(x, k)


def triu(x, /, *, k=0):
    return tenon.triu(x, k)


_All = collections.namedtuple("UniqueAllResult", "values indices inverse_indices counts")
_Counts = collections.namedtuple("UniqueCountsResult", "values counts")
_Inverse = collections.namedtuple("UniqueInverseResult", "values inverse_indices")


def unique_all(x, /):
    values, inverse, counts = tenon.unique(x, return_inverse=True, return_counts=True)
    places = arange(x.numel(), dtype=int64)
    first = full_like(counts, x.numel()).scatter_reduce(0, inverse.flatten(), places, "amin")
    return _All(values, first, inverse, counts)


def unique_counts(x, /):
    return _Counts(*tenon.unique(x, return_counts=True))


def unique_inverse(x, /):
    return _Inverse(*tenon.unique(x, return_inverse=True))


def unique_values(x, /):
    return tenon.unique(x)


def unstack(x, /, *, axis=0):
    return x.unbind(axis)


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    return tenon.var(x, axis, correction=correction, keepdim=keepdims)


def vecdot(x1, x2, /, *, axis=-1):
    x1, x2 = (x.moveaxis(axis, -1) for x in (x1, x2))
    return tenon.matmul(x1.conj().unsqueeze(-2), x2.unsqueeze(-1)).squeeze((-2, -1))


class _Info:
    """What this namespace can do."""

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}

    def default_device(self):
        return tenon.device("cpu")

    def devices(self):
        return (tenon.device("cpu"),)

    def default_dtypes(self, *, device=None):
        return {"real floating": tenon.get_default_dtype(), "complex floating": tenon.get_default_dtype().to_complex(), "integral": int64, "indexing": int64}

    def dtypes(self, *, device=None, kind=None):
        names = ("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float32", "float64", "complex64", "complex128")
        return {name: getattr(tenon, name) for name in names if kind is None or isdtype(getattr(tenon, name), kind)}


def __array_namespace_info__():
    return _Info()
