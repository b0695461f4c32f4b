"""The names of the Python array API standard.

https://data-apis.org/array-api/latest
"""

import builtins
import collections

import tenon
from tenon import (
    Size, Tensor, bool, complex64, complex128, device as Device, e, float32, float64, inf, int8, int16, int32, int64, nan, newaxis, pi, uint8, uint16,
    uint32, uint64,
)  # fmt: skip

from .._array_names import own_dtype
from . import fft, linalg
from ._creation import *
from ._elementwise import *
from ._operators import set_standard_operators, standard_operators
from ._promotion import computed as _computed, is_wide as _is_wide, of_one_dtype as _of_one_dtype, operands as _operands, promoted as _promoted
from ._reductions import *
from .linalg import matmul, matrix_transpose, tensordot, vecdot

__array_api_version__ = "2025.12"


def namespace(api_version=None):
    import sys

    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        raise ValueError(f"the array API of {api_version} is not known")
    return sys.modules[__name__]


# --- Dtypes


def astype(x, dtype, /, *, copy=True, device=None):
    return x.to(device=device, dtype=_dtype_of(dtype), copy=copy)


def _dtype_of(value):
    """Of an array, or what a dtype is; xarray names dtypes."""
    return value.dtype if isinstance(value, Tensor) else own_dtype(value) if isinstance(value, str) else value


def can_cast(from_, to, /):
    """Whether promotion of both dtypes gives the second one, which is of the same kind."""
    from_ = _dtype_of(from_)
    kinds = {from_.kind, to.kind}
    if len(kinds) > 1 and kinds not in ({"i", "u"}, {"f", "c"}):
        return False
    try:
        return _promoted(from_, to) is to
    except TypeError:
        return False


_Finfo = collections.namedtuple("finfo", "bits eps max min smallest_normal dtype")
_Iinfo = collections.namedtuple("iinfo", "bits max min dtype")


def finfo(type, /):
    dtype = _dtype_of(type)
    dtype = dtype.to_real() if dtype.is_complex else dtype
    of = tenon.finfo(dtype)
    return _Finfo(of.bits, of.eps, of.max, of.min, of.smallest_normal, dtype)


def iinfo(type, /):
    of = tenon.iinfo(_dtype_of(type))
    return _Iinfo(of.bits, of.max, of.min, _dtype_of(type))


_KINDS = {"bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f", "complex floating": "c", "numeric": "iufc"}


def isdtype(dtype, kind):
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, part) for part in kind)
    if not isinstance(kind, str):
        return dtype is kind
    if kind not in _KINDS:
        raise ValueError(f"isdtype: kinds are {', '.join(_KINDS)}, not {kind!r}")
    return dtype.kind in _KINDS[kind]


def _own(value):
    """NumPy's dtypes and the dtypes of its scalars as Tenon's, which xarray asks for."""
    kind = type(value).__module__
    return own_dtype(getattr(value, "dtype", value)) if kind == "numpy" or kind.startswith("numpy.") else value


def result_type(*arrays_and_dtypes):
    arrays_and_dtypes = [_own(value) for value in arrays_and_dtypes]
    dtypes = [_dtype_of(value) for value in arrays_and_dtypes if isinstance(value, (Tensor, tenon.dtype, str))]
    if not dtypes:
        raise ValueError("result_type: an array or a dtype is needed")
    common = dtypes[0]
    for dtype in dtypes[1:]:
        common = _promoted(common, dtype)
    for value in arrays_and_dtypes:
        if not isinstance(value, (Tensor, tenon.dtype, str)):
            common = _operands(tenon.empty(0, dtype=common), value)[0].dtype
    return common


# --- Shapes


def broadcast_arrays(*arrays):
    return tuple(tenon.broadcast_tensors(*arrays))


def broadcast_shapes(*shapes):
    return tuple(tenon.broadcast_shapes(*shapes))


def broadcast_to(x, /, shape):
    return x.broadcast_to(shape)


def concat(arrays, /, *, axis=0):
    arrays = _of_one_dtype(arrays)
    return tenon.cat([array.flatten() for array in arrays]) if axis is None else tenon.cat(arrays, axis)


def stack(arrays, /, *, axis=0):
    return tenon.stack(_of_one_dtype(arrays), axis)


def expand_dims(x, /, axis=0):
    return x.unsqueeze(axis)


def flip(x, /, *, axis=None):
    return tenon.flip(x, tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, builtins.int) else axis)


def moveaxis(x, source, destination, /):
    return tenon.moveaxis(x, source, destination)


def permute_dims(x, /, axes):
    return tenon.permute(x, axes)


def repeat(x, repeats, /, *, axis=None):
    return tenon.repeat_interleave(x, repeats.to(int64) if isinstance(repeats, Tensor) else repeats, axis)


def reshape(x, /, shape, *, copy=None):
    """With copy=False an error where only a copy has that shape."""
    if copy:
        return x.clone().reshape(shape)
    if copy is None:
        return x.reshape(shape)
    try:
        return x.view(shape)
    except RuntimeError as error:
        raise ValueError(str(error)) from None


def roll(x, /, shift, *, axis=None):
    if axis is None:
        return tenon.roll(x, shift)
    if isinstance(shift, builtins.int) and not isinstance(axis, builtins.int):
        shift = (shift,) * len(axis)
    return tenon.roll(x, shift, axis)


def squeeze(x, /, axis):
    axes = (axis,) if isinstance(axis, builtins.int) else axis
    for each in axes:
        if x.shape[each] != 1:
            raise ValueError(f"squeeze: dim {each} has size {x.shape[each]}, not 1")
    return tenon.squeeze(x, axis)


def tile(x, repetitions, /):
    return tenon.tile(x, repetitions)


def tril(x, /, *, k=0):
    return _computed(lambda a: tenon.tril(a, k), x)


def triu(x, /, *, k=0):
    return _computed(lambda a: tenon.triu(a, k), x)


def unstack(x, /, *, axis=0):
    return x.unbind(axis)


def take(x, indices, /, *, axis=None):
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take: axis must be given for {x.ndim} dims")
        axis = 0
    return x[(slice(None),) * (axis % x.ndim) + (indices.to(int64),)]


def take_along_axis(x, indices, /, *, axis=-1):
    return tenon.take_along_dim(x, indices.to(int64), axis)


def diff(x, /, n=1, *, axis=-1, prepend=None, append=None):
    """As scikit-learn calls it, n may be positional."""
    parts = [part for part in (prepend, x, append) if part is not None]
    joined = concat(parts, axis=axis) if len(parts) > 1 else x
    return _computed(lambda a: tenon.diff(a, n, axis), joined)


# --- Order and sets


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    return _computed(tenon.argsort, x, keeps_order=True, gives_elements=False, dim=axis, descending=descending, stable=stable)


def sort(x, /, *, axis=-1, descending=False, stable=True):
    return _computed(lambda a: tenon.sort(a, dim=axis, descending=descending, stable=stable).values, x, keeps_order=True)


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    x1, x2 = _operands(x1, x2)
    return _computed(tenon.searchsorted, x1, x2.contiguous(), keeps_order=True, gives_elements=False, side=side, sorter=sorter)


def isin(x1, x2, /, *, invert=False):
    return _computed(tenon.isin, *_operands(x1, x2), gives_elements=False, invert=invert)


def nonzero(x, /):
    if x.ndim == 0:
        raise ValueError("nonzero: an array without dims has no indices")
    return tenon.nonzero(x if x.dtype is bool else not_equal(x, 0), as_tuple=True)


_All = collections.namedtuple("UniqueAllResult", "values indices inverse_indices counts")
_Counts = collections.namedtuple("UniqueCountsResult", "values counts")
_Inverse = collections.namedtuple("UniqueInverseResult", "values inverse_indices")


def _unique(x):
    """The different elements, for each element its place among them, how often each occurs."""
    if not _is_wide(x.dtype):
        return tenon.unique(x, return_inverse=True, return_counts=True)
    inverse, counts = [], []

    def values(a):
        unique, *others = tenon.unique(a, return_inverse=True, return_counts=True)
        inverse.append(others[0])
        counts.append(others[1])
        return unique

    return _computed(values, x, keeps_order=True), inverse[0], counts[0]


def unique_all(x, /):
    values, inverse, counts = _unique(x)
    places = tenon.arange(x.numel(), dtype=int64)
    first = tenon.full_like(counts, x.numel()).scatter_reduce(0, inverse.flatten(), places, "amin")
    return _All(values, first, inverse, counts)


def unique_counts(x, /):
    values, _, counts = _unique(x)
    return _Counts(values, counts)


def unique_inverse(x, /):
    values, inverse, _ = _unique(x)
    return _Inverse(values, inverse)


def unique_values(x, /):
    return _unique(x)[0]


# --- Names beyond the standard, which xarray and SciPy ask of every namespace


def diag(x, /, k=0):
    return tenon.diag(x, k)


def einsum(*operands, **options):
    import numpy

    return numpy.einsum(*operands, **options)


def pad(x, pad_width, mode="constant", **options):
    import numpy

    return numpy.pad(x, pad_width, mode, **options)


def transpose(x, /, axes=None):
    return x.permute(tuple(range(x.ndim - 1, -1, -1)) if axes is None else tuple(axes))


def gradient(x, /, *spacing, axis=None, edge_order=1):
    import numpy

    return numpy.gradient(x, *spacing, axis=axis, edge_order=edge_order)


def _sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """A view of all windows, as in NumPy: their dims are the last ones."""
    window_shape = (window_shape,) if isinstance(window_shape, builtins.int) else tuple(window_shape)
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, builtins.int) else tuple(axis)
    if len(window_shape) != len(axes):
        raise ValueError(f"sliding_window_view: {len(window_shape)} sizes of windows for {len(axes)} dims")
    for dim, size in zip((dim % x.ndim for dim in axes), window_shape):
        x = x.unfold(dim, size, 1)
    return x


class lib:
    class stride_tricks:
        sliding_window_view = staticmethod(_sliding_window_view)


# --- What there is

_DIMS = 64


class _Info:
    """What this namespace can do."""

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": _DIMS}

    def default_device(self):
        return tenon.device("cpu")

    def devices(self):
        return [tenon.device("cpu")]

    def default_dtypes(self, *, device=None):
        return {"real floating": tenon.get_default_dtype(), "complex floating": tenon.get_default_dtype().to_complex(), "integral": int64, "indexing": int64}

    def dtypes(self, *, device=None, kind=None):
        names = ("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float32", "float64", "complex64", "complex128")
        return {name: getattr(tenon, name) for name in names if kind is None or isdtype(getattr(tenon, name), kind)}


def __array_namespace_info__():
    return _Info()
