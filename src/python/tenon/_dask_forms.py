"""What Dask asks of its chunks beyond NumPy's protocols: `x.size > 0`, `x.imag` of real numbers, indices of bytes,
slices that go back.

PyTorch has none of it, and answering the first costs about 0.1 us a call: so tensors take it only where Dask is in use.
"""

import functools

import numpy
from dask.array import _shuffle, core

from . import _tenon
from ._tenon import Tensor

__all__ = ["extend"]

_size, _imag_of_complex = Tensor.size, Tensor.imag
_vindex_slice_and_transpose, _vindex_merge = core._vindex_slice_and_transpose, core._vindex_merge


class _Size(int):
    """`x.size`: the number of elements, and PyTorch's method."""

    def __new__(cls, tensor):
        self = super().__new__(cls, tensor.numel())
        self.__self__ = tensor
        return self

    def __call__(self, *dim, **named):
        return _size(self.__self__, *dim, **named)


def _imag(self):
    """The imaginary parts, of real numbers zeros. (Where imag is an error, xarray cannot ask whether there is one.)"""
    return _imag_of_complex.__get__(self) if self.is_complex() else _tenon.zeros_like(self)


# --- Indices


def _is_of_bytes(entry):
    if isinstance(entry, numpy.ndarray):
        return entry.dtype == numpy.uint8
    return isinstance(entry, list) and any(isinstance(item, numpy.uint8) for item in entry)


def _as_integers(entry):
    return numpy.asarray(entry).astype(numpy.int64) if _is_of_bytes(entry) else entry


def _with_integers(function):
    """A function of Dask's (chunk, index, ...) that names places by bytes, which as indices of tensors are masks."""

    @functools.wraps(function)
    def called(chunk, index, *rest):
        if isinstance(chunk, Tensor):
            index = type(index)(map(_as_integers, index)) if isinstance(index, (tuple, list)) else _as_integers(index)
        return function(chunk, index, *rest)

    return called


def _points_first(block, points, axis):
    """Dask's function of the name below: elements of a block by points, with the dim of the points first."""
    if not isinstance(block, Tensor):
        return _vindex_slice_and_transpose(block, points, axis)
    return block[tuple(point if isinstance(point, slice) else numpy.asarray(point, numpy.int64) for point in points)].moveaxis(axis, 0)


@functools.wraps(core._vindex_merge)
def _merged(locations, values):
    return _vindex_merge([list(map(int, each)) for each in locations], values)


def extend():
    """Teaches tensors these forms and slices that go back, and Dask's functions of indices tensors."""
    _tenon._use_backward_slices(1)
    Tensor.imag = property(_imag, _imag_of_complex.__set__, doc=_imag.__doc__)
    Tensor.size = property(_Size, doc=_size.__doc__)
    core._vindex_slice_and_transpose, core._vindex_merge = _points_first, _merged
    _shuffle.getitem = _with_integers(_shuffle.getitem)
