"""Functions of PyTorch that are short over others: copies of parts, histograms, facts of tensors."""

import math
import warnings

from . import _tenon, return_types
from ._arguments import check_tensor
from ._dtypes import FLOATS, require
from ._methods import unsafe_chunk as _unsafe_chunk
from ._methods import unsafe_split as _unsafe_split
from ._methods import unsafe_split_with_sizes as _unsafe_split_with_sizes
from ._tenon import Tensor

__all__ = """
    detach_copy dequantize frobenius_norm get_device histogramdd is_distributed is_neg is_nonzero is_same_size
    nonzero_static nuclear_norm resolve_neg split_copy split_with_sizes_copy typename unbind_copy unsafe_chunk unsafe_split
    unsafe_split_with_sizes view_as_complex_copy view_as_real_copy
""".split()


# --- Facts


def get_device(input):
    """-1: the memory belongs to no numbered device."""
    check_tensor("get_device", input)
    return -1


def is_nonzero(input):
    """Whether the only element is not 0."""
    check_tensor("is_nonzero", input)
    return bool(input)


def is_same_size(input, other):
    """Whether both have the same sizes."""
    check_tensor("is_same_size", input)
    check_tensor("is_same_size", other, "other", 2)
    return input.shape == other.shape


def is_neg(input):
    """False: negative numbers are computed at once."""
    check_tensor("is_neg", input)
    return False


def is_distributed(input):
    """False."""
    check_tensor("is_distributed", input)
    return False


def resolve_neg(input):
    """input."""
    check_tensor("resolve_neg", input)
    return input


def dequantize(input):
    """input, as float32."""
    return input.dequantize()


def typename(obj, /):
    """The name of a tensor's type, or of an object's with its module."""
    if isinstance(obj, Tensor):
        return obj.type()
    module = getattr(obj, "__module__", "") or ""
    name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None)
    if name is None:
        module, name = type(obj).__module__ or "", type(obj).__qualname__
    return name if module in ("", "builtins") else f"{module}.{name}"


# --- Parts and copies


def unsafe_chunk(input, chunks, dim=0):
    """chunk, whose parts may be written in place."""
    return _unsafe_chunk(input, chunks, dim)


def unsafe_split(input, split_size, dim=0):
    """split, whose parts may be written in place."""
    return _unsafe_split(input, split_size, dim)


def unsafe_split_with_sizes(input, split_sizes, dim=0):
    """split_with_sizes, whose parts may be written in place."""
    return _unsafe_split_with_sizes(input, split_sizes, dim)


def _copied(view, out=None):
    if out is None:
        return view.clone(memory_format=_tenon.contiguous_format)
    return _tenon.alias_copy(view, out=out)


def _copies(name, parts, out):
    if out is None:
        return tuple(_copied(part) for part in parts)
    if len(out) != len(parts):
        raise RuntimeError(f"{name}_out() expected an out= argument of size {len(parts)}, got size {len(out)}")
    for part, to in zip(parts, out):
        _copied(part, to)
    return None


def split_copy(input, split_size, dim=0, *, out=None):
    """Copies of split."""
    return _copies("split_copy", _tenon.split(input, split_size, dim), out)


def split_with_sizes_copy(input, split_sizes, dim=0, *, out=None):
    """Copies of split_with_sizes."""
    return _copies("split_with_sizes_copy", _tenon.split_with_sizes(input, split_sizes, dim), out)


def unbind_copy(input, dim=0, *, out=None):
    """Copies of unbind."""
    return _copies("unbind_copy", _tenon.unbind(input, dim), out)


def detach_copy(input, *, out=None):
    """A copy of detach."""
    return _copied(input.detach(), out)


def view_as_real_copy(input, *, out=None):
    """A copy of view_as_real."""
    return _copied(_tenon.view_as_real(input), out)


def view_as_complex_copy(input, *, out=None):
    """A copy of view_as_complex."""
    return _copied(_tenon.view_as_complex(input), out)


# --- Norms and counts


def frobenius_norm(input, dim, keepdim=False, *, out=None):
    """The root of the sum of squares along dim: one dim or two."""
    warnings.warn(
        "at::frobenius_norm is deprecated and it is just left for JIT compatibility. It will be removed in a future PyTorch release. Please use "
        "`linalg.vector_norm(A, 2., dim, keepdim)` instead",
        stacklevel=2,
    )
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if len(dims) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dims)} dimensions instead.")
    result = _tenon.linalg_vector_norm(input, 2, dims or None, keepdim)
    return result if out is None else out.resize_(result.shape).copy_(result)


def nuclear_norm(input, dim=(-2, -1), keepdim=False, *, out=None):
    """The sums of singular values: linalg.matrix_norm of order "nuc"."""
    check_tensor("nuclear_norm", input)
    warnings.warn("at::nuclear_norm is deprecated and it is just left for JIT compatibility. It will be removed in a future PyTorch release. "
                  "Please use `linalg.matrix_norm(A, 'nuc', dim, keepdim)` instead", stacklevel=2)  # fmt: skip
    if isinstance(dim, bool):  # nuclear_norm(input, keepdim)
        dim, keepdim = (-2, -1), dim
    return _tenon.linalg_matrix_norm(input, "nuc", tuple(dim), keepdim, out=out)


def nonzero_static(input, *, size, fill_value=-1, out=None):
    """nonzero with size rows: cut, or filled with fill_value."""
    check_tensor("nonzero_static", input)
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    found = _tenon.argwhere(input)[:size]
    rows = _tenon.full((size, input.dim()), fill_value, dtype=_tenon.int64)
    rows[: len(found)] = found
    return rows if out is None else out.resize_(rows.shape).copy_(rows)


def _bounds(input, range):
    """The ends of each dim, None where they are to be looked for: which 16-bit floats do not allow."""
    dims = input.shape[-1]
    if range is None:
        if input.numel() > 0:
            require("histogramdd", input, (_tenon.float32, _tenon.float64))
        return [None] * dims
    if len(range) != 2 * dims:
        raise RuntimeError(
            f"torch.histogramdd: for a {dims}-dimensional histogram range should have {2 * dims} elements, but got {len(range)}"
        )
    return list(zip(range[::2], range[1::2]))


def _edges(values, bins, bounds, at):
    """The edges of `bins` intervals between bounds, or of the values' range."""
    if bounds is None:
        low, high = (values.min().item(), values.max().item()) if values.numel() else (0.0, 1.0)
    else:
        low, high = bounds
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histogramdd: dimension {at}'s range [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension {at}")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return _tenon.linspace(low, high, bins + 1, dtype=values.dtype)


def _check_edges(edges, at):
    if edges.dim() != 1:
        raise RuntimeError(
            f"torch.histogramdd: bins tensor should have one dimension, but got {edges.dim()} dimensions in the bins tensor for dimension {at}"
        )
    if edges.numel() == 0:
        raise RuntimeError(f"torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the bins tensor for dimension {at}")


def _places(values, edges):
    """The interval of each value, and whether it lies in one. The last interval includes its upper end."""
    bins = edges.numel() - 1
    inside = (values >= edges[0]) & (values <= edges[-1])
    at = _tenon.searchsorted(edges, values.contiguous(), right=True) - 1
    return at.clamp(0, bins - 1), inside


def _counted(rows, edges, weight, density):
    sizes = [each.numel() - 1 for each in edges]
    place, inside = _tenon.zeros(rows.shape[0], dtype=_tenon.int64), _tenon.ones(rows.shape[0], dtype=_tenon.bool)
    for values, each, bins in zip(rows.unbind(1), edges, sizes):
        at, is_in = _places(values, each)
        place, inside = place * bins + at, inside & is_in
    terms = _tenon.ones(rows.shape[0], dtype=rows.dtype) if weight is None else weight.reshape(-1)
    counts = _tenon.zeros(math.prod(sizes), dtype=rows.dtype).index_add(0, place[inside], terms[inside]).reshape(sizes)
    if density:
        counts = counts / counts.sum()
        for dim, each in enumerate(edges):
            counts = counts / each.diff().reshape([-1 if dim == other else 1 for other in range(len(sizes))])
    return counts


def _check_counts(bins):
    for at, count in enumerate(bins):
        if count <= 0:
            raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {count} for dimension {at}")


def _check_weight(input, weight):
    if weight is None:
        return
    if weight.dtype is not input.dtype:
        from ._dtypes import word_of

        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got "
            f"input({word_of(input.dtype)}), and weight({word_of(weight.dtype)})"
        )
    if weight.shape != input.shape[:-1]:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding its innermost "
            f"dimension, but got input with shape {list(input.shape)} and weight with shape {list(weight.shape)}"
        )


def histogramdd(input, bins, range=None, weight=None, density=False):
    """(hist, bin_edges): how many rows of input, [..., N], lie in each box of a grid of N dims.

    bins: how many intervals each dim has, one number for all dims, or the edges of each. range: the ends of each dim.
    """
    check_tensor("histogramdd", input)
    if input.dim() < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    dims = input.shape[-1]
    bins = [bins] * dims if isinstance(bins, int) else list(bins)
    if len(bins) != dims:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    return return_types.histogramdd(*_of_rows(input, bins, range, weight, density))


def _of_rows(input, bins, range, weight, density):
    """(counts, edges) of rows in a grid."""
    is_linear = not any(isinstance(each, Tensor) for each in bins)
    rows = input.detach().reshape(-1, input.shape[-1])
    if is_linear:
        bounds = _bounds(input, range)
        bins = [_edges(rows[:, at], count, bounds[at], at) for at, count in enumerate(bins)]
    for at, edges in enumerate(bins):
        _check_edges(edges, at)
    _check_weight(input, weight)
    _check_counts(edges.numel() - 1 for edges in bins)
    require("histogram_cpu", input, FLOATS)
    return _counted(rows, bins, weight, density), tuple(bins)
