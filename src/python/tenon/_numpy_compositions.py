"""NumPy's functions that are compositions of Tenon's ops, which have gradients."""

import numpy

import tenon

from ._numpy_functions import as_tensor, implements


def _of_floats(own):
    """Of float32 and float64 alone: NumPy computes float64 of integers, and has rounding of its own for float16."""

    def of(a, *args, **kwargs):
        a = as_tensor(a)
        if not isinstance(a, tenon.Tensor) or a.dtype not in (tenon.float32, tenon.float64):
            return NotImplemented
        return own(a, *args, **kwargs)

    return of


def _flat(a):
    return a.reshape(-1)


# --- Views and joins


@implements(numpy.ravel)
def _ravel(a, order="C"):
    return _flat(a) if order == "C" else NotImplemented


@implements(numpy.squeeze)
def _squeeze(a, axis=None):
    return tenon.squeeze(a) if axis is None else tenon.array_api.squeeze(a, axis)


@implements(numpy.swapaxes)
def _swapaxes(a, axis1, axis2):
    return tenon.transpose(a, axis1, axis2) if a.ndim else NotImplemented


@implements(numpy.moveaxis)
def _moveaxis(a, source, destination):
    return tenon.moveaxis(a, source, destination) if a.ndim else NotImplemented


if hasattr(numpy, "matrix_transpose"):  # NumPy 2

    @implements(numpy.matrix_transpose, numpy.linalg.matrix_transpose)
    def _matrix_transpose(x):
        return x.mT if x.ndim > 1 else NotImplemented


@implements(numpy.rollaxis)
def _rollaxis(a, axis, start=0):
    if not -a.ndim <= axis < a.ndim or not -a.ndim <= start <= a.ndim:
        return NotImplemented
    axis, start = axis % a.ndim, start + a.ndim if start < 0 else start
    return tenon.moveaxis(a, axis, start - 1 if axis < start else start)


@implements(numpy.diagonal)
def _diagonal(a, offset=0, axis1=0, axis2=1):
    rows, columns = a.shape[axis1], a.shape[axis2]
    return tenon.diagonal(a, max(min(offset, columns), -rows), axis1, axis2)


@implements(numpy.trace)
def _trace(a, offset=0, axis1=0, axis2=1, *, dtype=None):
    if a.dtype.kind == "u" and dtype is None:
        return NotImplemented
    return tenon.sum(_diagonal(a, offset, axis1, axis2), -1, dtype=dtype)


def _atleast(own):
    return lambda *arys: own(*(tenon.as_tensor(each) for each in arys))


implements(numpy.atleast_1d)(_atleast(tenon.atleast_1d))
implements(numpy.atleast_2d)(_atleast(tenon.atleast_2d))
implements(numpy.atleast_3d)(_atleast(tenon.atleast_3d))


@implements(numpy.broadcast_arrays)
def _broadcast_arrays(*args):
    return tuple(tenon.broadcast_tensors(*(tenon.as_tensor(each) for each in args)))


@implements(numpy.meshgrid)
def _meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    if sparse or not xi:
        return NotImplemented
    grids = tenon.meshgrid(*map(tenon.as_tensor, xi), indexing=indexing)
    return tuple(grid.contiguous() if copy else grid for grid in grids)


@implements(numpy.append)
def _append(arr, values, axis=None):
    arr, values = tenon.as_tensor(arr), tenon.as_tensor(values)
    if arr.dtype is not values.dtype:
        return NotImplemented
    return tenon.cat([_flat(arr), _flat(values)]) if axis is None else tenon.cat([arr, values], axis)


@implements(numpy.array_split)
def _array_split(ary, indices_or_sections, axis=0):
    return list(tenon.tensor_split(ary, indices_or_sections, axis))


@implements(numpy.split)
def _split(ary, indices_or_sections, axis=0):
    if isinstance(indices_or_sections, int) and ary.shape[axis] % indices_or_sections:
        return NotImplemented
    return _array_split(ary, indices_or_sections, axis)


def _split_along(least, axis):
    def split(ary, indices_or_sections):
        if ary.ndim < least:
            return NotImplemented
        return _split(ary, indices_or_sections, 0 if ary.ndim == 1 else axis)

    return split


implements(numpy.vsplit)(_split_along(2, 0))
implements(numpy.hsplit)(_split_along(1, 1))
implements(numpy.dsplit)(_split_along(3, 2))


@implements(numpy.pad)
def _pad(array, pad_width, mode="constant", *, constant_values=0):
    """Of one number. Everything else is NumPy's."""
    if mode != "constant" or not isinstance(constant_values, (int, float)) or isinstance(pad_width, dict):
        return NotImplemented
    if isinstance(constant_values, float) and array.dtype.kind not in "fc":
        return NotImplemented
    for dim, widths in enumerate(numpy.broadcast_to(pad_width, (array.ndim, 2)).tolist()):
        parts = [array]
        for place, width in ((0, widths[0]), (2, widths[1])):
            sizes = [*array.shape[:dim], width, *array.shape[dim + 1 :]]
            parts.insert(place, tenon.full(sizes, constant_values, dtype=array.dtype))
        array = tenon.cat(parts, dim)
    return array


@implements(numpy.extract)
def _extract(condition, arr):
    condition, arr = tenon.as_tensor(condition), tenon.as_tensor(arr)
    if condition.dtype is not tenon.bool or condition.shape != arr.shape:
        return NotImplemented
    return tenon.masked_select(arr, condition)


@implements(numpy.select)
def _select(condlist, choicelist, default=0):
    choices = [as_tensor(choice) for choice in choicelist]
    if len(condlist) != len(choices) or not choices or not isinstance(default, (int, float)):
        return NotImplemented
    first = choices[0]
    if any(not isinstance(choice, tenon.Tensor) or choice.dtype is not first.dtype for choice in choices) or first.dtype.kind not in "fc":
        return NotImplemented
    result = tenon.full((), default, dtype=first.dtype)
    for condition, choice in zip(reversed(condlist), reversed(choices)):
        result = tenon.where(tenon.as_tensor(condition), choice, result)
    return result


@implements(numpy.real)
def _real(val):
    return tenon.real(val)


@implements(numpy.imag)
def _imag(val):
    return tenon.imag(val) if val.is_complex() else tenon.zeros_like(val)


@implements(numpy.copy)
def _copy(a, order="K"):
    return a.clone() if order == "K" else NotImplemented


if hasattr(numpy, "astype"):  # NumPy 2

    @implements(numpy.astype)
    def _astype(x, dtype, *, copy=True):
        return x.astype(dtype, copy=copy)


@implements(numpy.round, numpy.around)
def _round(a, decimals=0):
    return tenon.round(a, decimals=decimals) if a.is_floating_point() else NotImplemented


# --- Products


def _of_common_dtype(a, b):
    a, b = tenon.as_tensor(a), tenon.as_tensor(b)
    common = tenon.promote_types(a.dtype, b.dtype)
    return a.to(common), b.to(common)


@implements(numpy.dot)
def _dot(a, b):
    if not isinstance(a, tenon.Tensor) or not isinstance(b, tenon.Tensor):
        return NotImplemented
    a, b = _of_common_dtype(a, b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if a.shape[-1] != b.shape[-1 if b.ndim == 1 else -2]:
        return NotImplemented  # PyTorch's tensordot broadcasts; the error is NumPy's
    return tenon.matmul(a, b) if b.ndim == 1 or a.ndim <= 2 and b.ndim == 2 else tenon.tensordot(a, b, ([a.ndim - 1], [b.ndim - 2]))


@implements(numpy.outer)
def _outer(a, b):
    if not isinstance(a, tenon.Tensor) or not isinstance(b, tenon.Tensor):
        return NotImplemented
    a, b = _of_common_dtype(a, b)
    return tenon.outer(_flat(a), _flat(b))


@implements(numpy.vdot)
def _vdot(a, b):
    a, b = _of_common_dtype(a, b)
    return tenon.vdot(_flat(a), _flat(b))


@implements(numpy.vander)
def _vander(x, N=None, increasing=False):
    return tenon.vander(x, N, increasing) if x.dtype in (tenon.int64, tenon.float64, tenon.complex128) else NotImplemented


@implements(numpy.cross)
def _cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if (axisa, axisb, axisc, axis) != (-1, -1, -1, None) or a.shape[-1] != 3 or b.shape[-1] != 3:
        return NotImplemented
    return tenon.linalg.cross(*_of_common_dtype(a, b))


@implements(numpy.linalg.norm)
@_of_floats
def _norm(x, ord=None, axis=None, keepdims=False):
    if axis is None and ord is not None and x.ndim not in (1, 2):
        return NotImplemented
    return tenon.linalg.norm(x, ord, axis, keepdims)


@implements(numpy.linalg.cond)
@_of_floats
def _cond(x, p=None):
    return tenon.linalg.cond(x, p)


@implements(numpy.linalg.multi_dot)
def _multi_dot(arrays):
    return tenon.linalg.multi_dot([tenon.as_tensor(each) for each in arrays])


# --- Statistics


@implements(numpy.average)
@_of_floats
def _average(a, axis=None, weights=None, *, keepdims=False):
    if a.numel() == 0:
        return NotImplemented
    if weights is None:
        return tenon.mean(a, axis, keepdim=keepdims) if a.ndim else NotImplemented
    weights = tenon.as_tensor(weights)
    if weights.shape != a.shape or weights.dtype is not a.dtype:
        return NotImplemented
    sums = tenon.sum(weights, axis, keepdim=keepdims)
    return NotImplemented if bool((sums == 0).any()) else tenon.sum(a * weights, axis, keepdim=keepdims) / sums


@implements(numpy.ptp)
def _ptp(a, axis=None, *, keepdims=False):
    return numpy.max(a, axis=axis, keepdims=keepdims) - numpy.min(a, axis=axis, keepdims=keepdims)


@implements(numpy.median)
@_of_floats
def _median(a, axis=None, *, keepdims=False):
    return tenon.quantile(a, 0.5, axis, keepdim=keepdims) if a.numel() and a.ndim else NotImplemented


@implements(numpy.cov)
@_of_floats
def _cov(m, *, rowvar=True, bias=False, ddof=None):
    if m.ndim == 0 or m.numel() == 0:
        return NotImplemented
    rows = m if rowvar or m.ndim == 1 else m.T
    correction = ddof if ddof is not None else 0 if bias else 1
    return tenon.cov(rows.double(), correction=correction) if rows.shape[-1] > correction else NotImplemented


@implements(numpy.corrcoef)
@_of_floats
def _corrcoef(x, *, rowvar=True):
    if x.ndim == 0 or x.numel() == 0 or x.shape[-1 if rowvar else 0] < 2:
        return NotImplemented
    return tenon.corrcoef((x if rowvar or x.ndim == 1 else x.T).double())


@implements(numpy.gradient)
@_of_floats
def _gradient(f, *varargs, axis=None, edge_order=1):
    if any(size < edge_order + 1 for size in f.shape) or f.ndim == 0 or not all(isinstance(each, (int, float)) for each in varargs) or edge_order != 1:
        return NotImplemented
    dims = tuple(range(f.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    if len(varargs) not in (0, 1, len(dims)):
        return NotImplemented
    spacing = list(varargs) if len(varargs) == len(dims) else list(varargs or (1.0,)) * len(dims)
    results = tuple(tenon.gradient(f, spacing=spacing, dim=dims))
    return results[0] if len(results) == 1 else results


@implements(numpy.trapezoid if hasattr(numpy, "trapezoid") else numpy.trapz)
@_of_floats
def _trapezoid(y, x=None, dx=1.0, axis=-1):
    if y.ndim == 0 or x is not None and not isinstance(x, tenon.Tensor):
        return NotImplemented
    return tenon.trapezoid(y, dx=dx, dim=axis) if x is None else tenon.trapezoid(y, x, dim=axis)


@implements(numpy.ediff1d)
def _ediff1d(ary, to_end=None, to_begin=None):
    if to_end is not None or to_begin is not None or ary.dtype is tenon.bool:
        return NotImplemented
    return tenon.diff(_flat(ary))


@implements(numpy.interp)
def _interp(x, xp, fp, left=None, right=None):
    """Of ascending places. The gradient reaches x and fp, and also xp."""
    x, xp, fp = map(tenon.as_tensor, (x, xp, fp))
    if x.is_complex() or xp.is_complex() or fp.is_complex():
        return NotImplemented
    x, xp, fp = x.double(), xp.double(), fp.double()
    if xp.ndim != 1 or fp.shape != xp.shape or xp.numel() < 2 or not bool((tenon.diff(xp) > 0).all()):
        return NotImplemented
    at = tenon.searchsorted(xp, x.contiguous(), right=True).sub(1).clamp(0, xp.numel() - 2)
    x0, x1, f0, f1 = xp[at], xp[at + 1], fp[at], fp[at + 1]
    between = f0 + (f1 - f0) / (x1 - x0) * (x - x0)
    between = tenon.where(x < xp[0], fp[0] if left is None else left, between)
    return tenon.where(x >= xp[-1], tenon.where(x > xp[-1], fp[-1] if right is None else right, fp[-1]), between)


# --- Without NaN


def _filled(a, value):
    return tenon.where(tenon.isnan(a), value, a)


def _without_nan(own, value):
    def computed(a, axis=None, **options):
        return own(_filled(a, value), axis=axis, **options)

    return _of_floats(computed)


for _name, _value in (("prod", 1.0), ("cumsum", 0.0), ("cumprod", 1.0)):
    implements(getattr(numpy, f"nan{_name}"))(_without_nan(getattr(numpy, _name), _value))


def _nan_extreme(own, value):
    def extreme(a, axis=None, *, keepdims=False):
        if a.numel() == 0 or bool(tenon.isnan(a).all(axis).any()):
            return NotImplemented  # with NumPy's warning
        return own(_filled(a, value), axis=axis, keepdims=keepdims)

    return _of_floats(extreme)


implements(numpy.nanmax)(_nan_extreme(numpy.max, -tenon.inf))
implements(numpy.nanmin)(_nan_extreme(numpy.min, tenon.inf))


@implements(numpy.nanmean)
@_of_floats
def _nanmean(a, axis=None, *, keepdims=False):
    if a.ndim == 0 or bool(tenon.isnan(a).all(axis).any()):
        return NotImplemented
    return tenon.nanmean(a, axis, keepdim=keepdims)


@implements(numpy.nanvar)
@_of_floats
def _nanvar(a, axis=None, *, ddof=0, keepdims=False):
    is_nan = tenon.isnan(a)
    count = tenon.sum(~is_nan, axis, keepdim=True)
    if a.ndim == 0 or bool((count <= ddof).any()):
        return NotImplemented
    mean = tenon.sum(_filled(a, 0.0), axis, keepdim=True) / count
    squares = tenon.where(is_nan, 0.0, a - mean).square()
    spread = tenon.sum(squares, axis, keepdim=True) / (count - ddof)
    if keepdims:
        return spread
    return spread.squeeze(tuple(range(a.ndim)) if axis is None else axis)


@implements(numpy.nanstd)
def _nanstd(a, axis=None, *, ddof=0, keepdims=False):
    spread = _nanvar(a, axis, ddof=ddof, keepdims=keepdims)
    return spread if spread is NotImplemented else spread.sqrt()


@implements(numpy.nanquantile)
@_of_floats
def _nanquantile(a, q, axis=None, *, keepdims=False):
    if a.ndim == 0 or a.numel() == 0 or bool(tenon.isnan(a).all(axis).any()):
        return NotImplemented
    q = tenon.as_tensor(q)
    a = a if q.ndim == 0 else a.double()
    return tenon.nanquantile(a, q.to(a.dtype), axis, keepdim=keepdims)


@implements(numpy.nanpercentile)
def _nanpercentile(a, q, axis=None, *, keepdims=False):
    return _nanquantile(a, tenon.as_tensor(q).double() / 100, axis, keepdims=keepdims)


@implements(numpy.nanmedian)
def _nanmedian(a, axis=None, *, keepdims=False):
    return _nanquantile(a, 0.5, axis, keepdims=keepdims)
