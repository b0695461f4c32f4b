"""NumPy's functions on tensors: what Tenon has, it does itself; the rest NumPy does, and tensors come back."""

import functools
import operator

import numpy

import tenon

from ._array_names import own_dtype
from ._standard import _NUMPY


def _over(array):
    """A tensor over an array, or over a copy where the array is read-only or has negative strides. What is repeated stays so."""
    if array.flags.writeable and min(array.strides, default=0) >= 0:
        return tenon.from_numpy(array)
    once = array[tuple(slice(1) if stride == 0 else slice(None) for stride in array.strides)]
    return tenon.from_numpy(once.copy()).expand(array.shape)


def _as_tensor(value):
    if isinstance(value, numpy.generic) and value.dtype.kind in "biufc":
        return value.item()
    if isinstance(value, numpy.ndarray) and value.dtype.kind in "biufc":
        try:
            return _over(value)
        except (TypeError, ValueError):
            return value
    return value


def _rebuilt(value, each):
    """A list, a tuple, a named tuple or a dict with other things inside."""
    if isinstance(value, dict):
        return {key: each(item) for key, item in value.items()}
    if not isinstance(value, tuple):
        return [each(item) for item in value]
    items = tuple(each(item) for item in value)
    return type(value)._make(items) if hasattr(type(value), "_make") else items


def _as_array(value):
    if isinstance(value, tenon.Tensor):
        return value.numpy()
    return _rebuilt(value, _as_array) if isinstance(value, (list, tuple, dict)) else value


def _from_array(value):
    """A result of NumPy's as a tensor, where its dtype is known here."""
    if isinstance(value, numpy.generic) and value.dtype.kind in "biufc":
        value = numpy.asarray(value)  # a tensor without dims: programs go on to ask it for what tensors have
    if isinstance(value, numpy.ndarray):
        try:
            return _over(value)
        except (TypeError, ValueError):
            return value
    return _rebuilt(value, _from_array) if isinstance(value, (list, tuple, dict)) else value


_UFUNCS, _FUNCTIONS = {}, {}

for _name, _own in _NUMPY.items():
    try:
        _function = operator.attrgetter(_name)(numpy)
    except AttributeError:  # an older NumPy
        continue
    (_UFUNCS if isinstance(_function, numpy.ufunc) else _FUNCTIONS)[_function] = getattr(tenon, _own)


def _promoted_matmul(a, b):
    """NumPy promotes the operands of a product; PyTorch's ops want one dtype. A number is a TypeError, and NumPy refuses it."""
    if isinstance(a, tenon.Tensor) and isinstance(b, tenon.Tensor):
        common = tenon.promote_types(a.dtype, b.dtype)
        a, b = a.to(common), b.to(common)
    return tenon.matmul(a, b)


_UFUNCS[numpy.matmul] = _promoted_matmul


# Other parameters, other defaults.


def _implements(*functions):
    def register(own):
        _FUNCTIONS.update(dict.fromkeys(functions, own))
        return own

    return register


@_implements(numpy.where)
def _where(condition, x=None, y=None):
    if x is None or y is None:
        return NotImplemented
    condition, x, y = (_as_tensor(value) for value in (condition, x, y))
    if not isinstance(condition, tenon.Tensor):
        return NotImplemented
    return tenon.where(condition if condition.dtype is tenon.bool else condition != 0, x, y)


@_implements(numpy.flip)
def _flip(m, axis=None):
    return tenon.flip(m, tuple(range(m.ndim)) if axis is None else (axis,) if isinstance(axis, int) else axis)


@_implements(numpy.roll)
def _roll(a, shift, axis=()):
    return tenon.roll(a, shift, () if axis is None else axis)


@_implements(numpy.std)
def _std(a, axis=None, *, ddof=0, keepdims=False):
    return tenon.std(a, axis, correction=ddof, keepdim=keepdims)


@_implements(numpy.var)
def _var(a, axis=None, *, ddof=0, keepdims=False):
    return tenon.var(a, axis, correction=ddof, keepdim=keepdims)


@_implements(numpy.nan_to_num)
def _nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    return tenon.nan_to_num(x, nan, posinf, neginf) if copy else NotImplemented


@_implements(numpy.nonzero)
def _nonzero(a):
    return tenon.nonzero(a, as_tuple=True) if a.ndim else NotImplemented


@_implements(numpy.sort)
def _sort(a, axis=-1, *, stable=None):
    return tenon.sort(a, dim=axis, stable=bool(stable)).values


@_implements(numpy.take_along_axis)
def _take_along_axis(arr, indices, axis=-1):
    return tenon.take_along_dim(arr, indices, axis)


@_implements(numpy.broadcast_to)
def _broadcast_to(array, shape, subok=False):
    return array.broadcast_to(shape if isinstance(shape, (tuple, list)) else (shape,))


@_implements(numpy.transpose)
def _transpose(a, axes=None):
    return a.permute(tuple(axes) if axes is not None else tuple(range(a.ndim - 1, -1, -1)))


@_implements(numpy.expand_dims)
def _expand_dims(a, axis):
    return a.unsqueeze(axis) if isinstance(axis, int) else NotImplemented


def _with_common_dtype(*operands):
    """NumPy promotes the operands of products."""
    common = functools.reduce(tenon.promote_types, (each.dtype for each in operands))
    return [each.to(common) for each in operands]


@_implements(numpy.take)
def _take(a, indices, axis=None, mode="raise"):
    if mode != "raise" or not isinstance(a, tenon.Tensor):
        return NotImplemented
    at = tenon.as_tensor(indices)
    if at.dtype.kind not in "iu":
        return NotImplemented
    if axis is None:
        return tenon.take(a, at.long())
    return a[(slice(None),) * (axis % a.ndim) + (at.long(),)]


@_implements(numpy.tensordot)
def _tensordot(a, b, axes=2):
    a, b = _with_common_dtype(tenon.as_tensor(a), tenon.as_tensor(b))
    dims = axes if isinstance(axes, int) else tuple([each] if isinstance(each, int) else list(each) for each in axes)
    return tenon.tensordot(a, b, dims)


@_implements(numpy.einsum)
def _einsum(subscripts, *operands, dtype=None, order="K", casting="safe", optimize=False):
    if not isinstance(subscripts, str):
        return NotImplemented
    operands = [tenon.as_tensor(each) for each in operands]
    operands = _with_common_dtype(*operands) if dtype is None else [each.to(dtype) for each in operands]
    return tenon.einsum(subscripts, *operands)


@_implements(numpy.percentile)
def _percentile(a, q, axis=None, *, method="linear", keepdims=False):
    return _quantile(a, tenon.as_tensor(q).double() / 100, axis, method=method, keepdims=keepdims)


@_implements(numpy.quantile)
def _quantile(a, q, axis=None, *, method="linear", keepdims=False):
    if a.dtype not in (tenon.float32, tenon.float64):
        return NotImplemented
    return tenon.quantile(a, tenon.as_tensor(q).to(a.dtype), axis, keepdim=keepdims, interpolation=method)


def _extreme(own, name):
    def extreme(a, axis=None, *, keepdims=False):
        dims = range(a.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        if any(a.shape[dim] == 0 for dim in dims):
            raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
        return own(a, tuple(dims), keepdim=keepdims) if a.ndim else own(a)

    return extreme


_implements(numpy.min, numpy.amin)(_extreme(tenon.amin, "minimum"))
_implements(numpy.max, numpy.amax)(_extreme(tenon.amax, "maximum"))


def _like(own):
    def made(prototype, *fill_value, dtype=None, order="K", subok=True, shape=None, device=None):
        dtype = prototype.dtype if dtype is None else own_dtype(dtype)
        sizes = prototype.shape if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
        return own(sizes, *fill_value, dtype=dtype)

    return made


_LIKES = {numpy.empty_like: tenon.empty, numpy.zeros_like: tenon.zeros, numpy.ones_like: tenon.ones, numpy.full_like: tenon.full}
for _function, _own in _LIKES.items():
    _implements(_function)(_like(_own))


@_implements(numpy.shape)
def _shape(a):
    return tuple(a.shape)


@_implements(numpy.ndim)
def _ndim(a):
    return a.ndim


def _into(out, result):
    if isinstance(out, tenon.Tensor):
        return out.copy_(result)
    numpy.copyto(out, _as_array(result), casting="same_kind")
    return out


def _broadcast(operands):
    """Whether the shapes of operands broadcast."""
    try:
        tenon.broadcast_shapes(*(tuple(value.shape) for value in operands if isinstance(value, tenon.Tensor)))
    except RuntimeError:
        return False
    return True


def _called(own, inputs):
    """Tenon's result, in memory of its own. NotImplemented: only NumPy takes these operands."""
    operands = [_as_tensor(value) for value in inputs]
    if not all(isinstance(value, (tenon.Tensor, int, float, complex)) for value in operands):
        return NotImplemented
    try:
        result = own(*operands)
    except (TypeError, NotImplementedError):
        return NotImplemented
    except RuntimeError:
        if not _broadcast(operands):
            raise
        return NotImplemented  # of dtypes that only NumPy takes
    if isinstance(result, tuple):
        return tuple(result)
    return result.clone() if any(result is value for value in inputs) else result


def _is_foreign(value):
    """An array of another library that has ufuncs of its own, which may take tensors; or one whose mask would be lost."""
    if isinstance(value, numpy.ma.MaskedArray):
        return True
    return not isinstance(value, (tenon.Tensor, numpy.ndarray, numpy.generic)) and hasattr(value, "__array_ufunc__")


def ufunc(function, method, inputs, kwargs):
    if any(map(_is_foreign, inputs)):
        return NotImplemented
    out = kwargs.pop("out", None)
    if kwargs.get("dtype") is None:
        kwargs.pop("dtype", None)
    if out is not None and kwargs.get("where", True) is not True:  # elements that are left out keep their values
        getattr(function, method)(*_as_array(inputs), out=_as_array(out), **_as_array(kwargs))
        return out[0] if len(out) == 1 else out
    result = NotImplemented
    if method == "__call__" and not kwargs and function in _UFUNCS:
        result = _called(_UFUNCS[function], inputs)
    if result is NotImplemented:
        result = _from_array(getattr(function, method)(*_as_array(inputs), **_as_array(kwargs)))
    if out is None:
        return result
    return _into(out[0], result) if len(out) == 1 else tuple(map(_into, out, result))


def function(function, types, args, kwargs):
    if not all(issubclass(kind, (tenon.Tensor, numpy.ndarray)) for kind in types):
        return NotImplemented
    own = _FUNCTIONS.get(function)
    if function in _LIKES and kwargs.get("dtype") is not None:
        own_dtype(kwargs["dtype"])  # TypeError for records: Dask then keeps their fields in a dict, as tensors
    if own is not None:
        given = {name: value for name, value in kwargs.items() if name != "out" and not (name == "dtype" and value is None)}
        if "keepdims" in given and len(args) == 1:
            given.setdefault("axis", None)
        try:
            if "dtype" in given:
                given["dtype"] = own_dtype(given["dtype"])
            result = own(*args, **given)
        except (TypeError, RuntimeError):  # arguments only NumPy takes
            result = NotImplemented
        if result is not NotImplemented:
            return result if kwargs.get("out") is None else _into(kwargs["out"], result)
    arrays = _as_array(kwargs)
    result = function(*_as_array(args), **arrays)
    # What was written in place comes back as what came in.
    return kwargs["out"] if "out" in arrays and result is arrays["out"] else _from_array(result)
