"""The reductions of the array API."""

import tenon

from ._elementwise import not_equal
from ._promotion import computed, is_wide

__all__ = ["all", "any", "argmax", "argmin", "count_nonzero", "cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std", "sum", "var"]


def _reduced(own, x, axis, keepdims):
    """own(x, dims, keepdims). Of no dims each element is reduced alone; PyTorch takes an empty tuple for all dims."""
    dims = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    return own(x, dims, keepdims) if dims else own(x.unsqueeze(0), (0,), False)


def _sum_dtype(x, dtype):
    """The dtype of sums and products: integers get 64 bits and keep their sign."""
    if dtype is not None:
        return dtype
    return {"b": tenon.int64, "i": tenon.int64, "u": tenon.uint64}.get(x.dtype.kind, x.dtype)


def _folded(own, x, dtype):
    """own(x, dtype); to unsigned integers by signed ones, whose sums and products have the same bits."""
    dtype = _sum_dtype(x, dtype)
    if not is_wide(dtype):
        return own(x.to(dtype) if is_wide(x.dtype) else x, dtype)
    signed = x.view(tenon.int64) if x.dtype is tenon.uint64 else x.to(tenon.int64)
    return own(signed, tenon.int64).to(dtype)


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    return _folded(lambda a, of: _reduced(lambda b, dims, keep: tenon.sum(b, dims, keep, dtype=of), a, axis, keepdims), x, dtype)


def _product(x, dims, keepdims, dtype):
    for dim in dims:
        x = tenon.prod(x, dim, True, dtype=dtype)
    return x if keepdims else x.squeeze(dims)


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    return _folded(lambda a, of: _reduced(lambda b, dims, keep: _product(b, dims, keep, of), a, axis, keepdims), x, dtype)


def mean(x, /, *, axis=None, keepdims=False):
    return _reduced(tenon.mean, x, axis, keepdims)


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    return _reduced(lambda a, dims, keep: _variance(a, dims, keep, correction), x, axis, keepdims)


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    return tenon.sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def _variance(x, dims, keepdims, correction):
    """Without PyTorch's warning where fewer elements than the correction leave no degree of freedom."""
    count = 1
    for dim in dims:
        count *= x.shape[dim]
    if count > correction and x.numel() > 0:
        return tenon.var(x, dims, correction=correction, keepdim=keepdims)
    squares = tenon.square(x - tenon.mean(x, dims, True))
    return tenon.sum(squares, dims, keepdims) / tenon.zeros((), dtype=x.dtype)


def max(x, /, *, axis=None, keepdims=False):
    return _reduced(lambda a, dims, keep: computed(tenon.amax, a, keeps_order=True, dim=dims, keepdim=keep), x, axis, keepdims)


def min(x, /, *, axis=None, keepdims=False):
    return _reduced(lambda a, dims, keep: computed(tenon.amin, a, keeps_order=True, dim=dims, keepdim=keep), x, axis, keepdims)


def argmax(x, /, *, axis=None, keepdims=False):
    return computed(tenon.argmax, x, keeps_order=True, gives_elements=False, dim=axis, keepdim=keepdims)


def argmin(x, /, *, axis=None, keepdims=False):
    return computed(tenon.argmin, x, keeps_order=True, gives_elements=False, dim=axis, keepdim=keepdims)


def _truth(x):
    return x if x.dtype is tenon.bool else not_equal(x, 0)


def all(x, /, *, axis=None, keepdims=False):
    return _reduced(tenon.all, _truth(x), axis, keepdims)


def any(x, /, *, axis=None, keepdims=False):
    return _reduced(tenon.any, _truth(x), axis, keepdims)


def count_nonzero(x, /, *, axis=None, keepdims=False):
    return _reduced(tenon.sum, _truth(x), axis, keepdims)


def _cumulative(name, own, start, x, axis, dtype, include_initial):
    if axis is None and x.ndim != 1:
        raise ValueError(f"{name}: axis must be given for {x.ndim} dims")
    axis = 0 if axis is None else axis
    result = _folded(lambda a, of: own(a, axis, dtype=of), x, dtype)
    if not include_initial:
        return result
    sizes = list(result.shape)
    sizes[axis] = 1
    return tenon.cat([tenon.full(sizes, start, dtype=result.dtype), result], axis)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    return _cumulative("cumulative_prod", tenon.cumprod, 1, x, axis, dtype, include_initial)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    return _cumulative("cumulative_sum", tenon.cumsum, 0, x, axis, dtype, include_initial)
