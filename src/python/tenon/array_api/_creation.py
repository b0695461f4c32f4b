"""The functions of the array API that make arrays."""

import tenon
from tenon import Tensor

__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace", "meshgrid", "ones", "ones_like", "zeros", "zeros_like",
]  # fmt: skip


def _holds_arrays(obj):
    return isinstance(obj, (list, tuple)) and any(isinstance(item, Tensor) and item.ndim > 0 or _holds_arrays(item) for item in obj)


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """Lists may hold arrays, which are stacked. NumPy's arrays that are read-only, or whose strides are negative, are copied."""
    is_read_only = not getattr(getattr(obj, "flags", None), "writeable", True)
    if copy is None and (is_read_only or min(getattr(obj, "strides", None) or (0,)) < 0):
        obj = obj.copy()
    if not _holds_arrays(obj):
        return tenon.asarray(obj, dtype=dtype, device=device, copy=copy)
    if copy is False:
        raise ValueError("asarray: a list of arrays cannot become an array without a copy")
    from . import stack

    return stack([asarray(item) for item in obj]).to(dtype=dtype, device=device)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """Empty where the stop lies behind the start; in PyTorch that is an error."""
    start, stop = (0, start) if stop is None else (start, stop)
    if step != 0 and (stop - start) / step <= 0:
        if dtype is None:
            dtype = tenon.int64 if all(isinstance(number, int) for number in (start, stop, step)) else tenon.get_default_dtype()
        return tenon.empty(0, dtype=dtype, device=device)
    return tenon.arange(start, stop, step, dtype=dtype, device=device)


def empty(shape, *, dtype=None, device=None):
    return tenon.empty(shape, dtype=dtype, device=device)


def ones(shape, *, dtype=None, device=None):
    return tenon.ones(shape, dtype=dtype, device=device)


def zeros(shape, *, dtype=None, device=None):
    return tenon.zeros(shape, dtype=dtype, device=device)


def full(shape, fill_value, *, dtype=None, device=None):
    return tenon.full((shape,) if isinstance(shape, int) else shape, fill_value, dtype=dtype, device=device)


def empty_like(x, /, *, dtype=None, device=None):
    return tenon.empty_like(x, dtype=dtype, device=device)


def ones_like(x, /, *, dtype=None, device=None):
    return tenon.ones_like(x, dtype=dtype, device=device)


def zeros_like(x, /, *, dtype=None, device=None):
    return tenon.zeros_like(x, dtype=dtype, device=device)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    return tenon.full_like(x, fill_value, dtype=dtype, device=device)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    n_cols = n_rows if n_cols is None else n_cols
    result = tenon.zeros((n_rows, n_cols), dtype=dtype, device=device)
    if -n_rows < k < n_cols:
        result.diagonal(k).fill_(1)
    return result


def from_dlpack(x, /, *, device=None, copy=None):
    return tenon.from_dlpack(x, device=device, copy=copy)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    if endpoint:
        return tenon.linspace(start, stop, num, dtype=dtype, device=device)
    return tenon.linspace(start, stop, num + 1, dtype=dtype, device=device)[:-1]


def meshgrid(*arrays, indexing="xy"):
    return tuple(tenon.meshgrid(*arrays, indexing=indexing))
