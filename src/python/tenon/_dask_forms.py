"""The forms of NumPy's in which Dask itself uses chunks: `x.size > 0`, `x.sum(dtype=numpy.dtype("f8"))`, `x[::-1]`.

PyTorch has none of them, and answering them costs about 0.1 us a call: so tensors take them only where Dask is in use.
What PyTorch takes keeps its meaning, but for NumPy's arrays and numbers of uint8 as indices, which are integers here, no masks.
"""

import numpy

from . import _tenon
from ._array_names import own_dtype
from ._tenon import Tensor

__all__ = ["extend"]

_size, _sum, _prod, _transpose, _view = Tensor.size, Tensor.sum, Tensor.prod, Tensor.transpose, Tensor.view
_imag_of_complex = Tensor.imag
_get, _set = Tensor.__getitem__, Tensor.__setitem__


class _Size(int):
    """`x.size`: the number of elements, and PyTorch's method."""

    def __new__(cls, tensor):
        self = super().__new__(cls, tensor.numel())
        self.__self__ = tensor
        return self

    def __call__(self, *dim, **named):
        return _size(self.__self__, *dim, **named)


def _with_numpy_dtype(method):
    def called(self, *args, **named):
        if isinstance(named.get("dtype"), numpy.dtype):
            named["dtype"] = own_dtype(named["dtype"])
        return method(self, *args, **named)

    called.__name__, called.__doc__, called.__qualname__ = method.__name__, method.__doc__, f"Tensor.{method.__name__}"
    return called


def view(self, *sizes_or_dtype, **named):
    if sizes_or_dtype and isinstance(sizes_or_dtype[0], numpy.dtype):
        return _view(self, own_dtype(sizes_or_dtype[0]))
    return _view(self, *sizes_or_dtype, **named)


def transpose(self, *dims, **named):
    return self.permute(*dims[0]) if dims and isinstance(dims[0], (list, tuple)) else _transpose(self, *dims, **named)


def _imag(self):
    """The imaginary parts, of real numbers zeros. (Where imag is an error, xarray cannot ask whether there is one.)"""
    return _imag_of_complex.__get__(self) if self.is_complex() else _tenon.zeros_like(self)


# --- Indices


def _goes_back(entry):
    return isinstance(entry, slice) and isinstance(entry.step, int) and entry.step < 0


def _is_of_bytes(entry):
    if isinstance(entry, numpy.ndarray):
        return entry.dtype == numpy.uint8
    return isinstance(entry, list) and any(isinstance(item, numpy.uint8) for item in entry)


def _as_integers(entry):
    return numpy.asarray(entry).astype(numpy.int64) if _is_of_bytes(entry) else entry


def _dims_of(entry):
    """The number of dims that an entry of a key indexes."""
    if entry is None or entry is Ellipsis or isinstance(entry, (bool, numpy.bool_)):
        return 0
    is_mask = isinstance(entry, (Tensor, numpy.ndarray)) and entry.dtype == bool
    return entry.ndim if is_mask else 1


def _reversed(self, key):
    """The tensor with the slices of the key that go back applied, and the key of what remains."""
    rest, forwards, dims = [], [slice(None)] * self.ndim, []
    named, dim = sum(map(_dims_of, key)), 0
    for entry in key:
        if _goes_back(entry):
            places = range(self.shape[dim])[entry]
            forwards[dim] = slice(places[-1], places[0] + 1, -entry.step) if places else slice(0, 0)
            dims.append(dim)
            entry = slice(None)
        rest.append(entry)
        dim += self.ndim - named if entry is Ellipsis else _dims_of(entry)
    return _get(self, tuple(forwards)).flip(dims), tuple(rest)


def __getitem__(self, key):
    if isinstance(key, (int, Tensor)):
        return _get(self, key)
    entries = key if isinstance(key, tuple) else (key,)
    if any(map(_goes_back, entries)):
        self, key = _reversed(self, entries)
        return _get(self, tuple(map(_as_integers, key)))
    return _get(self, tuple(map(_as_integers, entries)) if any(map(_is_of_bytes, entries)) else key)


def __setitem__(self, key, value):
    entries = key if isinstance(key, tuple) else (key,)
    _set(self, tuple(map(_as_integers, entries)) if any(map(_is_of_bytes, entries)) else key, value)


# --- Dtypes


def _equals(self, other):
    """Python's bool is one of NumPy's dtypes: `x.dtype == bool`."""
    return True if self is other else self is _tenon.bool if other is bool else NotImplemented


def extend():
    """Teaches tensors these forms."""
    Tensor.imag = property(_imag, _imag_of_complex.__set__, doc=_imag.__doc__)
    Tensor.size = property(_Size, doc=_size.__doc__)
    Tensor.sum, Tensor.prod, Tensor.transpose, Tensor.view = _with_numpy_dtype(_sum), _with_numpy_dtype(_prod), transpose, view
    Tensor.__getitem__, Tensor.__setitem__ = __getitem__, __setitem__
    _tenon.dtype.__hash__, _tenon.dtype.__eq__ = _tenon.dtype.__hash__, _equals
