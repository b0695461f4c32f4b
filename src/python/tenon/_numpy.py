"""NumPy's functions on tensors: what Tenon has, it does itself; the rest NumPy does, and tensors come back."""

import numpy

import tenon

# NumPy's name: Tenon's.
_UFUNCS = {
    "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div", "negative": "neg", "absolute": "abs",
    "equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge",
    "remainder": "remainder", "power": "pow",
}  # fmt: skip
_SAME = {"add", "maximum", "minimum", "sqrt", "exp", "log", "square", "reciprocal", "isnan", "isfinite", "logical_and",
         "logical_or", "logical_xor", "logical_not", "floor", "ceil", "trunc", "sign", "signbit", "copysign", "fmax", "fmin", "fmod", "isinf",
         "deg2rad", "rad2deg", "sin", "cos", "tan", "sinh", "cosh", "arcsin", "arccos", "arctan", "arctan2", "arcsinh", "arccosh", "arctanh",
         "exp2", "expm1", "log1p", "log2", "log10", "hypot", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"}  # fmt: skip


def _as_tensor(value):
    if isinstance(value, numpy.generic) and value.dtype.kind in "biuf":
        return value.item()
    if isinstance(value, numpy.ndarray) and value.dtype.kind in "biuf":
        try:
            return tenon.as_tensor(value)
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
    if isinstance(value, numpy.ndarray):
        try:
            return tenon.from_numpy(value if value.flags.writeable and min(value.strides, default=0) >= 0 else value.copy())
        except (TypeError, ValueError):
            return value
    return _rebuilt(value, _from_array) if isinstance(value, (list, tuple, dict)) else value


def ufunc(function, method, inputs, kwargs):
    out = kwargs.pop("out", None)
    own = _UFUNCS.get(function.__name__, function.__name__ if function.__name__ in _SAME else None)
    result = NotImplemented
    if method == "__call__" and not kwargs and own is not None and hasattr(tenon, own):
        operands = [_as_tensor(value) for value in inputs]
        if all(isinstance(value, (tenon.Tensor, int, float)) for value in operands):
            if not own.startswith("logical") and own not in ("maximum", "minimum") or all(isinstance(v, tenon.Tensor) for v in operands):
                result = getattr(tenon, own)(*operands)
    if result is NotImplemented:
        arrays = _as_array(kwargs)
        result = getattr(function, method)(*_as_array(inputs), **arrays)
        result = _from_array(result)
    if out is None:
        return result
    (target,) = out
    if isinstance(target, tenon.Tensor):
        return target.copy_(result)
    numpy.copyto(target, _as_array(result), casting="same_kind")
    return target


_FUNCTIONS = {}


def _implements(*functions):
    def register(own):
        _FUNCTIONS.update(dict.fromkeys(functions, own))
        return own

    return register


def _reduces(*functions, name):
    @_implements(*functions)
    def reduce(a, axis=None, out=None, keepdims=False, **rest):
        if rest or not isinstance(a, tenon.Tensor):
            return NotImplemented
        own = getattr(tenon, name)
        if axis is None and keepdims:
            axis = tuple(range(a.ndim))
        result = own(a) if axis is None else own(a, axis, keepdims)
        return result if out is None else out.copy_(result)


_reduces(numpy.sum, name="sum")
_reduces(numpy.mean, name="mean")
_reduces(numpy.max, numpy.amax, name="amax")
_reduces(numpy.min, numpy.amin, name="amin")
_reduces(numpy.all, name="all")
_reduces(numpy.any, name="any")


@_implements(numpy.where)
def _where(condition, x=None, y=None):
    if x is None or y is None:
        return NotImplemented
    condition, x, y = (_as_tensor(value) for value in (condition, x, y))
    if not isinstance(condition, tenon.Tensor):
        return NotImplemented
    return tenon.where(condition if condition.dtype is tenon.bool else condition != 0, x, y)


@_implements(numpy.broadcast_to)
def _broadcast_to(array, shape, subok=False):
    return array.broadcast_to(shape if isinstance(shape, (tuple, list)) else (shape,))


@_implements(numpy.transpose)
def _transpose(a, axes=None):
    return a.permute(tuple(axes) if axes is not None else tuple(range(a.ndim - 1, -1, -1)))


@_implements(numpy.expand_dims)
def _expand_dims(a, axis):
    return a.unsqueeze(axis) if isinstance(axis, int) else NotImplemented


@_implements(numpy.shape)
def _shape(a):
    return tuple(a.shape)


@_implements(numpy.ndim)
def _ndim(a):
    return a.ndim


def function(function, types, args, kwargs):
    if not all(issubclass(kind, (tenon.Tensor, numpy.ndarray)) for kind in types):
        return NotImplemented
    own = _FUNCTIONS.get(function)
    if own is not None:
        try:
            result = own(*args, **kwargs)
        except TypeError:  # an argument only NumPy knows
            result = NotImplemented
        if result is not NotImplemented:
            return result
    arrays = _as_array(kwargs)
    result = function(*_as_array(args), **arrays)
    # What was written in place comes back as what came in.
    return kwargs["out"] if "out" in arrays and result is arrays["out"] else _from_array(result)
