"""NumPy's functions on tensors: what Tenon has, it does itself; the rest NumPy does, and tensors come back."""

import numpy

import tenon

from ._array_names import own_dtype
from ._numpy_functions import FUNCTIONS as _FUNCTIONS, LIKES as _LIKES, UFUNCS as _UFUNCS, as_tensor as _as_tensor, over as _over


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


# What they give has no gradient: the elements of a tensor that requires grad may be read.
_WITHOUT_GRADIENT = {
    getattr(numpy, name)
    for name in """
        allclose argpartition array2string array_equal array_equiv array_repr array_str bincount can_cast common_type digitize flatnonzero histogram
        histogram2d histogram_bin_edges histogramdd iscomplex iscomplexobj isrealobj lexsort may_share_memory min_scalar_type nanargmax nanargmin packbits
        ravel_multi_index result_type shares_memory size tril_indices_from triu_indices_from unravel_index
    """.split()
}


def _requires_grad(value):
    if isinstance(value, tenon.Tensor):
        return value.requires_grad
    if isinstance(value, dict):
        value = value.values()
    return isinstance(value, (list, tuple, type({}.values()))) and any(map(_requires_grad, value))


def _detached(value):
    if isinstance(value, tenon.Tensor):
        return value.detach()
    return _rebuilt(value, _detached) if isinstance(value, (list, tuple, dict)) else value


def _by_numpy(function, args, kwargs, refusal):
    """NumPy's result as tensors; `refusal` is why Tenon did not compute it."""
    if _requires_grad(args) or _requires_grad(kwargs):
        if function not in _WITHOUT_GRADIENT:
            error = refusal or RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
            error.add_note(f"{function.__module__}.{function.__name__} is computed by NumPy for these arguments, without a gradient")
            raise error
        args, kwargs = _detached(args), _detached(kwargs)
    arrays = _as_array(kwargs)
    result = function(*_as_array(args), **arrays)
    # What was written in place comes back as what came in.
    return kwargs["out"] if "out" in arrays and result is arrays["out"] else _from_array(result)


def _has_axis_of_none(args, kwargs):
    """Whether a tensor without dims is given an axis, which many functions of NumPy refuse and Tenon's take."""
    first = args[0] if args else None
    return isinstance(first, tenon.Tensor) and first.ndim == 0 and ("axis" in kwargs or len(args) == 2 and isinstance(args[1], (int, tuple)))


_REFUSALS = (AttributeError, IndexError, RuntimeError, TypeError, ValueError)


def _given(args, kwargs):
    given = dict(kwargs)
    given.pop("out", None)
    if given.get("dtype") is None:
        given.pop("dtype", None)
    else:
        given["dtype"] = own_dtype(given["dtype"])
    if "keepdims" in given and len(args) == 1:
        given.setdefault("axis", None)
    return given


def _by_tenon(own, args, kwargs):
    """(the result, None), or (NotImplemented, why) for arguments that only NumPy takes."""
    # A short function: Python 3.11 without memory does not leave a handler that is far from its function's begin.
    try:
        return own(*args, **_given(args, kwargs)), None
    except _REFUSALS as error:
        return NotImplemented, error


def function(function, types, args, kwargs):
    if not all(issubclass(kind, (tenon.Tensor, numpy.ndarray)) for kind in types):
        return NotImplemented
    own, refusal = _FUNCTIONS.get(function), None
    if function in _LIKES and kwargs.get("dtype") is not None:
        own_dtype(kwargs["dtype"])  # TypeError for records: Dask then keeps their fields in a dict, as tensors
    if own is not None and (not _has_axis_of_none(args, kwargs) or _requires_grad(args)):
        result, refusal = _by_tenon(own, args, kwargs)
        if result is not NotImplemented:
            return result if kwargs.get("out") is None else _into(kwargs["out"], result)
    return _by_numpy(function, args, kwargs, refusal)
