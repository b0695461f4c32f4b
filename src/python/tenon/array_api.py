"""The names of the Python array API standard, as far as there are ops for them.

https://data-apis.org/array-api/latest
"""

import builtins

import tenon
from tenon import (
    Size, abs, acos, acosh, all, any, arange, argmax, argmin, asarray, asin, asinh, atan, atan2, atanh, bool, can_cast, ceil,
    clamp, complex64, complex128, conj, copysign, cos, cosh, e, empty, empty_like, exp, expm1, eye, finfo, float32, float64, floor,
    from_dlpack, full, full_like, hypot, iinfo, imag, inf, int16, int32, int64, int8, isfinite, isinf, isnan, linspace, log, log10,
    log1p, log2, logical_and, logical_not, logical_or, logical_xor, maximum, minimum, moveaxis, nan, newaxis, ones, ones_like,
    permute as permute_dims, pi, real, reciprocal, remainder, reshape, round, sign, signbit, sin, sinh, sqrt, square, squeeze, tan,
    trunc, uint16, uint32, uint64, uint8, where, zeros, zeros_like,
)  # fmt: skip
from tenon import device as Device, matmul, tanh
from tenon import (
    add, amax as max, amin as min, bitwise_and, bitwise_left_shift, bitwise_not as bitwise_invert, bitwise_or, bitwise_right_shift,
    bitwise_xor, broadcast_to, div as divide, eq as equal, ge as greater_equal, gt as greater, le as less_equal,
    lt as less, mul as multiply, ne as not_equal, neg as negative, sub as subtract,
)  # fmt: skip

__array_api_version__ = "2024.12"


def namespace(api_version=None):
    import sys

    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        raise ValueError(f"the array API of {api_version} is not known")
    return sys.modules[__name__]


def astype(x, dtype, /, *, copy=True, device=None):
    return x.to(device=device, dtype=dtype, copy=copy)


def broadcast_arrays(*arrays):
    return list(tenon.broadcast_tensors(*arrays))


def broadcast_shapes(*shapes):
    return tuple(tenon.broadcast_shapes(*shapes))


def clip(x, /, min=None, max=None):
    return x.clone() if min is None and max is None else clamp(x, min, max)


def concat(arrays, /, *, axis=0):
    return tenon.cat([array.flatten() for array in arrays]) if axis is None else tenon.cat(arrays, axis)


def count_nonzero(x, /, *, axis=None, keepdims=False):
    return sum(x != 0, axis=axis, keepdims=keepdims) if keepdims else tenon.count_nonzero(x, axis)


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    x = concat([part for part in (prepend, x, append) if part is not None], axis=axis)
    for _ in range(n):
        size = x.shape[axis]
        x = x.narrow(axis, 1, size - 1) - x.narrow(axis, 0, size - 1)
    return x


def expand_dims(x, /, *, axis=0):
    return x.unsqueeze(axis)


def flip(x, /, *, axis=None):
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, builtins.int) else axis
    for dim in axes:
        x = take(x, arange(x.shape[dim] - 1, -1, -1), axis=dim)
    return x


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
    x1, x2 = (asarray(x) for x in (x1, x2))
    found = (x1.unsqueeze(-1) == x2.flatten()).any(-1)
    return logical_not(found) if invert else found


def matrix_transpose(x, /):
    return x.mT


def mean(x, /, *, axis=None, keepdims=False):
    return _reduced(tenon.mean, x, axis, keepdims)


def meshgrid(*arrays, indexing="xy"):
    return list(tenon.meshgrid(*arrays, indexing=indexing))


def nonzero(x, /):
    return tenon.nonzero(x, as_tuple=True)


def positive(x, /):
    return x.clone()


def _reduced(reduce, x, axis, keepdims, **options):
    if axis is None:
        axis = tuple(range(x.ndim))
    return reduce(x, axis, keepdim=keepdims, **options) if x.ndim else reduce(x, **options)


def repeat(x, repeats, /, *, axis=None):
    if axis is None:
        x, axis = x.flatten(), 0
    counts = [repeats] * x.shape[axis] if isinstance(repeats, builtins.int) else repeats.expand(x.shape[axis]).tolist()
    return take(x, asarray([at for at, count in enumerate(counts) for _ in range(count)], dtype=int64), axis=axis)


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
    x1 = x1 if sorter is None else x1[sorter]
    before = x1 < x2.unsqueeze(-1) if side == "left" else x1 <= x2.unsqueeze(-1)
    return before.sum(-1)


def stack(arrays, /, *, axis=0):
    return tenon.stack(arrays, axis)


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    return _reduced(tenon.std, x, axis, keepdims, correction=correction)


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    return _reduced(tenon.sum, x if dtype is None else x.to(dtype), axis, keepdims)


def take(x, indices, /, *, axis=0):
    return x[(slice(None),) * (axis % x.ndim) + (indices,)]


def take_along_axis(x, indices, /, *, axis=-1):
    shape = broadcast_shapes(x.shape[: axis % x.ndim] + (1,) + x.shape[axis % x.ndim + 1 :], indices.shape)
    places = [arange(size).reshape((-1,) + (1,) * (x.ndim - 1 - dim)) for dim, size in enumerate(shape)]
    places[axis] = indices
    return x[tuple(places)]


def tensordot(x1, x2, /, *, axes=2):
    left, right = (range(-axes, 0), range(axes)) if isinstance(axes, builtins.int) else axes
    left, right = [dim % x1.ndim for dim in left], [dim % x2.ndim for dim in right]
    free1, free2 = ([dim for dim in range(x.ndim) if dim not in used] for x, used in ((x1, left), (x2, right)))
    shape = [x1.shape[dim] for dim in free1] + [x2.shape[dim] for dim in free2]
    inner = builtins.int(Size([x1.shape[dim] for dim in left]).numel())
    outer1, outer2 = (Size([x.shape[dim] for dim in free]).numel() for x, free in ((x1, free1), (x2, free2)))
    a, b = permute_dims(x1, (*free1, *left)).reshape((outer1, inner)), permute_dims(x2, (*right, *free2)).reshape((inner, outer2))
    return matmul(a, b).reshape(shape)


def tile(x, repetitions, /):
    rank = builtins.max(len(repetitions), x.ndim)
    times, sizes = (1,) * (rank - len(repetitions)) + tuple(repetitions), (1,) * (rank - x.ndim) + tuple(x.shape)
    blocks = x.reshape([size for pair in zip((1,) * rank, sizes) for size in pair])
    return blocks.expand([size for pair in zip(times, sizes) for size in pair]).reshape([a * b for a, b in zip(times, sizes)])


def tril(x, /, *, k=0):
    return where(_columns(x) - _rows(x) <= k, x, zeros((), dtype=x.dtype))


def triu(x, /, *, k=0):
    return where(_columns(x) - _rows(x) >= k, x, zeros((), dtype=x.dtype))


def _rows(x):
    return arange(x.shape[-2]).unsqueeze(-1)


def _columns(x):
    return arange(x.shape[-1])


def unstack(x, /, *, axis=0):
    return tuple(x.select(axis, at) for at in range(x.shape[axis]))


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    return _reduced(tenon.var, x, axis, keepdims, correction=correction)


def vecdot(x1, x2, /, *, axis=-1):
    x1, x2 = (x.moveaxis(axis, -1) for x in (x1, x2))
    return sum(x1 * x2, axis=-1)


class _Info:
    """What this namespace can do."""

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}

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
