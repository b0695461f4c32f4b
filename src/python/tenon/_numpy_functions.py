"""NumPy's functions that Tenon computes: from the ops' declarations, from the array API, and by adapters where parameters differ.

An adapter returns NotImplemented, or raises, for what only NumPy takes.
"""

import functools
import inspect
import operator

import numpy

import tenon

from . import array_api
from ._array_names import own_dtype
from ._standard import _NUMPY


def over(array):
    """A tensor over an array, or over a copy where the array is read-only or has negative strides. What is repeated stays so."""
    if array.flags.writeable and min(array.strides, default=0) >= 0:
        return tenon.from_numpy(array)
    once = array[(*(slice(1) if stride == 0 else slice(None) for stride in array.strides), ...)]
    return tenon.from_numpy(once.copy()).expand(array.shape)


def as_tensor(value):
    if isinstance(value, numpy.generic) and value.dtype.kind in "biufc":
        return value.item()
    if isinstance(value, numpy.ndarray) and value.dtype.kind in "biufc":
        try:
            return over(value)
        except (TypeError, ValueError):
            return value
    return value


UFUNCS, FUNCTIONS = {}, {}

for _name, _own in _NUMPY.items():
    try:
        _function = operator.attrgetter(_name)(numpy)
    except AttributeError:  # an older NumPy
        continue
    (UFUNCS if isinstance(_function, numpy.ufunc) else FUNCTIONS)[_function] = getattr(tenon, _own)


def _promoted_matmul(a, b):
    """NumPy promotes the operands of a product; PyTorch's ops want one dtype. A number is a TypeError, and NumPy refuses it."""
    if isinstance(a, tenon.Tensor) and isinstance(b, tenon.Tensor):
        common = tenon.promote_types(a.dtype, b.dtype)
        a, b = a.to(common), b.to(common)
    return tenon.matmul(a, b)


UFUNCS[numpy.matmul] = _promoted_matmul


# Other parameters, other defaults.


def implements(*functions):
    def register(own):
        FUNCTIONS.update(dict.fromkeys(functions, own))
        return own

    return register


@implements(numpy.where)
def _where(condition, x=None, y=None):
    if x is None or y is None:
        return NotImplemented
    condition, x, y = (as_tensor(value) for value in (condition, x, y))
    if not isinstance(condition, tenon.Tensor):
        return NotImplemented
    return tenon.where(condition if condition.dtype is tenon.bool else condition != 0, x, y)


@implements(numpy.flip)
def _flip(m, axis=None):
    return tenon.flip(m, tuple(range(m.ndim)) if axis is None else (axis,) if isinstance(axis, int) else axis)


@implements(numpy.roll)
def _roll(a, shift, axis=()):
    return tenon.roll(a, shift, () if axis is None else axis)


@implements(numpy.std)
def _std(a, axis=None, *, ddof=0, keepdims=False):
    return tenon.std(a, axis, correction=ddof, keepdim=keepdims)


@implements(numpy.var)
def _var(a, axis=None, *, ddof=0, keepdims=False):
    return tenon.var(a, axis, correction=ddof, keepdim=keepdims)


@implements(numpy.nan_to_num)
def _nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    return tenon.nan_to_num(x, nan, posinf, neginf) if copy else NotImplemented


@implements(numpy.nonzero)
def _nonzero(a):
    return tenon.nonzero(a, as_tuple=True) if a.ndim else NotImplemented


@implements(numpy.sort)
def _sort(a, axis=-1, *, stable=None):
    return tenon.sort(a, dim=axis, stable=bool(stable)).values if a.ndim else NotImplemented


@implements(numpy.argsort)
def _argsort(a, axis=-1, *, stable=None):
    return tenon.argsort(a, dim=axis, stable=bool(stable)) if a.ndim else NotImplemented


@implements(numpy.take_along_axis)
def _take_along_axis(arr, indices, axis=-1):
    return tenon.take_along_dim(arr, indices, axis)


@implements(numpy.broadcast_to)
def _broadcast_to(array, shape, subok=False):
    return array.broadcast_to(shape if isinstance(shape, (tuple, list)) else (shape,))


@implements(numpy.transpose)
def _transpose(a, axes=None):
    return a.permute(tuple(axes) if axes is not None else tuple(range(a.ndim - 1, -1, -1)))


@implements(numpy.expand_dims)
def _expand_dims(a, axis):
    return a.unsqueeze(axis) if isinstance(axis, int) else NotImplemented


def _with_common_dtype(*operands):
    """NumPy promotes the operands of products."""
    common = functools.reduce(tenon.promote_types, (each.dtype for each in operands))
    return [each.to(common) for each in operands]


@implements(numpy.take)
def _take(a, indices, axis=None, mode="raise"):
    if mode != "raise" or not isinstance(a, tenon.Tensor):
        return NotImplemented
    at = tenon.as_tensor(indices)
    if at.dtype.kind not in "iu":
        return NotImplemented
    if axis is None:
        return tenon.take(a, at.long())
    if a.ndim == 0:
        return NotImplemented
    return a[(slice(None),) * (axis % a.ndim) + (at.long(),)]


def _tensordot(a, b, axes=2):
    a, b = _with_common_dtype(tenon.as_tensor(a), tenon.as_tensor(b))
    if isinstance(axes, int):
        axes = (range(a.ndim - axes, a.ndim), range(axes))
    dims = tuple([each] if isinstance(each, int) else list(each) for each in axes)
    if [a.shape[dim] for dim in dims[0]] != [b.shape[dim] for dim in dims[1]]:
        return NotImplemented  # PyTorch's op broadcasts; the error is NumPy's
    return tenon.tensordot(a, b, dims)


for _name in ("tensordot", "linalg.tensordot"):
    if _name == "tensordot" or hasattr(numpy.linalg, "tensordot"):  # NumPy 2
        implements(operator.attrgetter(_name)(numpy))(_tensordot)


@implements(numpy.einsum)
def _einsum(subscripts, *operands, dtype=None, order="K", casting="safe", optimize=False):
    if not isinstance(subscripts, str):
        return NotImplemented
    operands = [tenon.as_tensor(each) for each in operands]
    operands = _with_common_dtype(*operands) if dtype is None else [each.to(dtype) for each in operands]
    return tenon.einsum(subscripts, *operands)


@implements(numpy.percentile)
def _percentile(a, q, axis=None, *, method="linear", keepdims=False):
    return _quantile(a, tenon.as_tensor(q).double() / 100, axis, method=method, keepdims=keepdims)


@implements(numpy.quantile)
def _quantile(a, q, axis=None, *, method="linear", keepdims=False):
    if a.dtype not in (tenon.float32, tenon.float64) or a.ndim == 0 and axis is not None:
        return NotImplemented
    q = tenon.as_tensor(q)
    a = a if q.ndim == 0 else a.double()  # to NumPy, several numbers are an array of float64
    return tenon.quantile(a, q.to(a.dtype), axis, keepdim=keepdims, interpolation=method)


def _extreme(own):
    def extreme(a, axis=None, *, keepdims=False):
        dims = range(a.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        if a.ndim and any(a.shape[dim] == 0 for dim in dims):
            return NotImplemented  # the error is NumPy's
        return own(a, tuple(dims), keepdim=keepdims)

    return extreme


implements(numpy.min, numpy.amin)(_extreme(tenon.amin))
implements(numpy.max, numpy.amax)(_extreme(tenon.amax))


# PyTorch's sums of unsigned integers are int64, its `all` and `any` of uint8 are uint8.


def _sum_of(own):
    def summed(a, axis=None, **options):
        if a.dtype.kind == "u" and "dtype" not in options:
            return NotImplemented
        return own(a, axis, **options)

    return summed


for _function, _own in ((numpy.sum, tenon.sum), (numpy.nansum, tenon.nansum)):
    implements(_function)(_sum_of(_own))


@implements(numpy.prod)
def _prod(a, axis=None, **options):
    if a.dtype.kind == "u" and "dtype" not in options:
        return NotImplemented
    return tenon.prod(a, **options) if axis is None else tenon.prod(a, axis, **options)


def _scan_of(own):
    def scanned(a, axis=None, **options):
        if a.ndim == 0 or a.dtype.kind == "u" and "dtype" not in options:
            return NotImplemented
        return own(a.reshape(-1), 0, **options) if axis is None else own(a, axis, **options)

    return scanned


implements(numpy.cumsum)(_scan_of(tenon.cumsum))
implements(numpy.cumprod)(_scan_of(tenon.cumprod))


def _truth_of(own):
    return lambda a, axis=None, **options: own(a if a.dtype is tenon.bool else a != 0, axis, **options)


implements(numpy.all)(_truth_of(tenon.all))
implements(numpy.any)(_truth_of(tenon.any))


def _like(own):
    def made(prototype, *fill_value, dtype=None, order="K", subok=True, shape=None, device=None):
        dtype = prototype.dtype if dtype is None else own_dtype(dtype)
        sizes = prototype.shape if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
        return own(sizes, *fill_value, dtype=dtype)

    return made


LIKES = {numpy.empty_like: tenon.empty, numpy.zeros_like: tenon.zeros, numpy.ones_like: tenon.ones, numpy.full_like: tenon.full}
for _function, _own in LIKES.items():
    implements(_function)(_like(_own))


@implements(numpy.shape)
def _shape(a):
    return tuple(a.shape)


@implements(numpy.ndim)
def _ndim(a):
    return a.ndim


# What the array API has, under NumPy's names for its parameters.


def _from_standard(function, own):
    names = tuple(inspect.signature(function).parameters)
    positional = sum(each.kind is each.POSITIONAL_ONLY for each in inspect.signature(own).parameters.values())

    def call(*args, **kwargs):
        given = dict(zip(names, args, strict=False)) | kwargs
        arrays = [given.pop(name) for name in names[:positional]]
        return own(*arrays, **given)

    return call


_OF_STANDARD = """
    concat cumulative_prod cumulative_sum diff permute_dims repeat reshape searchsorted unstack linalg.cholesky linalg.cross
    linalg.diagonal linalg.matmul linalg.matrix_norm linalg.matrix_rank linalg.outer linalg.pinv linalg.qr linalg.solve
    linalg.trace linalg.vecdot linalg.eigh linalg.slogdet linalg.svd fft.fftshift fft.ifftshift
""".split()
# Their results are NumPy's named tuples.
_NAMED = ("linalg.eigh", "linalg.qr", "linalg.slogdet", "linalg.svd")


def _named_as_numpy(function, own):
    kind = functools.cache(lambda: type(function(numpy.eye(1))))

    def call(*args, **kwargs):
        result = kind()._make(own(*args, **kwargs))
        return result if all(part.numel() for part in result) else NotImplemented  # qr's mode "r" gives one array

    return call


for _name in _OF_STANDARD:
    _function, _own = (operator.attrgetter(_name)(module) if hasattr(module, _name.partition(".")[0]) else None for module in (numpy, array_api))
    if _function is None:  # an older NumPy
        continue
    _own = _from_standard(_function, _own)
    implements(_function)(_named_as_numpy(_function, _own) if _name in _NAMED else _own)


def _fft(name):
    own = getattr(tenon.fft, name)

    def transformed(a, *args, **kwargs):
        if a.ndim == 0 or a.dtype not in (tenon.float32, tenon.float64, tenon.complex64, tenon.complex128):
            return NotImplemented
        names = {"axis": "dim", "axes": "dim"}
        return own(a, *args, **{names.get(key, key): value for key, value in kwargs.items()})

    return transformed


for _name in "fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn".split():
    implements(getattr(numpy.fft, _name))(_fft(_name))

from . import _numpy_compositions as _  # noqa: E402: it registers, too
