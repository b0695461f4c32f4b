"""Tensors as chunks of Dask arrays, and gradients of functions of Dask arrays.

Where Dask is installed, tensors are registered without an import of this module: by an entry point of Dask's.
"""

import functools
import math

import numpy
from dask import config, delayed
from dask.array.backends import ArrayBackendEntrypoint
from dask.array.chunk_types import register_chunk_type
from dask.array.dispatch import concatenate_lookup, divide_lookup, einsum_lookup, empty_lookup, nannumel_lookup, numel_lookup
from dask.array.dispatch import percentile_lookup, take_lookup, tensordot_lookup, to_numpy_dispatch
from dask.sizeof import sizeof

import tenon

from . import _dask_forms
from ._array_names import own_dtype
from ._numpy import _from_array
from ._tensor import used_nbytes
from .func import _leaves, _map

__all__ = ["Backend", "value_and_grad"]

# --- What Dask computes with chunks beyond NumPy's functions


def _concatenate(arrays, axis=0):
    return numpy.concatenate([_from_array(each) for each in arrays], axis=axis)


def _empty(shape, dtype=None, order="C"):
    return numpy.empty_like(tenon.empty(0), shape=shape, dtype=dtype)


def _percentile(a, q, method="linear"):
    """The percentiles of a chunk and the number of its elements, which Dask merges."""
    return (None, 0) if len(a) == 0 else (numpy.percentile(a, q, method=method), len(a))


def _numel(x, axis=None, dtype=numpy.float64, keepdims=False, **kwargs):
    """The number of elements that a reduction of x folds, at every place of its result: one element, read with stride 0."""
    dims = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    dims = {dim % x.ndim for dim in dims} if x.ndim else set()
    count = math.prod(x.shape[dim] for dim in dims)
    shape = [1 if dim in dims else size for dim, size in enumerate(x.shape) if keepdims or dim not in dims]
    return tenon.full((1,) * len(shape), count, dtype=own_dtype(dtype)).expand(shape)


def _nannumel(x, **kwargs):
    """_numel without the elements that are NaN."""
    return numpy.sum(~numpy.isnan(x), **kwargs)


def _to_numpy(data, **kwargs):
    return data.numpy(force=True)


_dask_forms.extend()
register_chunk_type(tenon.Tensor)
sizeof.register(tenon.Tensor, used_nbytes)
for _lookup, _function in (
    (concatenate_lookup, _concatenate),
    (divide_lookup, numpy.divide),
    (einsum_lookup, numpy.einsum),
    (empty_lookup, _empty),
    (nannumel_lookup, _nannumel),
    (numel_lookup, _numel),
    (percentile_lookup, _percentile),
    (take_lookup, numpy.take),
    (tensordot_lookup, numpy.tensordot),
    (to_numpy_dispatch, _to_numpy),
):
    _lookup.register(tenon.Tensor, _function)


# --- Arrays of tensors from Dask's own factories


def _made(name):
    @functools.wraps(getattr(ArrayBackendEntrypoint, name))
    def make(*args, meta=None, **kwargs):
        import dask.array

        with config.set({"array.backend": "numpy"}):
            return getattr(dask.array, name)(*args, meta=tenon.empty(()) if meta is None else meta, **kwargs)

    return staticmethod(make)


class Backend(ArrayBackendEntrypoint):
    """Dask's arrays of tensors: `x.to_backend("tenon")`, and factories under `dask.config.set({"array.backend": "tenon"})`."""

    ones, zeros, empty, full = map(_made, ("ones", "zeros", "empty", "full"))

    @classmethod
    def to_backend_dispatch(cls):
        return _from_array

    @classmethod
    def to_backend(cls, data, **kwargs):
        return data if isinstance(data._meta, tenon.Tensor) else data.map_blocks(_from_array, **kwargs)

    @staticmethod
    def arange(*args, like=None, **kwargs):
        import dask.array

        with config.set({"array.backend": "numpy"}):
            return dask.array.arange(*args, like=tenon.empty(()) if like is None else like, **kwargs)

    @property
    def RandomState(self):
        raise NotImplementedError('Dask draws random numbers with NumPy: dask.array.random.normal(...).to_backend("tenon") works')

    default_bit_generator = RandomState


# --- Gradients

_PARTS = 8  # sums that one task adds, as Dask's split_every


def _of_blocks(function, parameters, blocks):
    """[value, gradient by each leaf of the parameters] of one row of blocks."""
    leaves = [leaf.detach().requires_grad_() for leaf in _leaves(parameters)]
    given = iter(leaves)
    with tenon.enable_grad():
        value = function(_map(lambda leaf: next(given), parameters), *blocks)
    if not isinstance(value, tenon.Tensor) or value.numel() != 1:
        raise ValueError(f"value_and_grad: the function must return a tensor of one element for its blocks, and gave {_described(value)}")
    found = tenon.autograd.grad(value.reshape(()), leaves, allow_unused=True) if value.requires_grad else [None] * len(leaves)
    return [value.detach().reshape(()), *(tenon.zeros_like(leaf) if each is None else each for leaf, each in zip(leaves, found))]


def _described(value):
    return f"sizes {list(value.shape)}" if isinstance(value, tenon.Tensor) else type(value).__name__


def _added(parts):
    return [functools.reduce(tenon.add, each) for each in zip(*parts)]


def _is_dask(value):
    return hasattr(value, "__dask_graph__")


def _rows(arrays):
    """Lists of the blocks that belong together: chunks of all arrays along dim 0, whole along the others."""
    from dask.array.core import unify_chunks

    if not arrays:
        raise TypeError("value_and_grad: a Dask array is needed beside the parameters")
    whole = [array.rechunk(dict.fromkeys(range(1, array.ndim), -1)) if array.ndim > 1 else array for array in arrays]
    places = [(0, *((at, dim) for dim in range(1, array.ndim))) for at, array in enumerate(whole)]
    _, unified = unify_chunks(*(part for pair in zip(whole, places) for part in pair))
    return list(zip(*(array.to_delayed().ravel() for array in unified)))


def value_and_grad(function):
    """The sum of `function(parameters, *blocks)` over the blocks of Dask arrays, and its gradient by the parameters.

    The result is called with parameters, which are a tensor or lists, tuples or dicts of tensors, and with Dask arrays whose
    dim 0 has the same size. `function` gets the parameters, whole, and blocks of rows; it returns the loss of these rows,
    a tensor of one element. Gives (value, gradients): Dask arrays, the gradients in the structure of the parameters. Nothing
    is computed before `dask.compute(value, gradients)`, which shares the work of both.
    """

    @functools.wraps(function)
    def differentiated(parameters, *arrays):
        from dask.array import from_delayed

        leaves = _leaves(parameters)
        metas = [leaf._meta if _is_dask(leaf) else leaf for leaf in leaves]
        for meta in metas:
            if not isinstance(meta, tenon.Tensor) or not meta.dtype.is_floating_point:
                raise TypeError("value_and_grad: parameters must be tensors of floating point dtype")
        values = _map(lambda leaf: leaf.rechunk(-1).to_delayed().item() if _is_dask(leaf) else leaf.detach(), parameters)
        held = delayed(values, traverse=any(map(_is_dask, leaves)))  # one key of the graph: sent to a worker once
        part = delayed(_of_blocks)
        sums = [part(function, held, list(blocks)) for blocks in _rows(arrays)]
        while len(sums) > 1:
            sums = [delayed(_added)(sums[at : at + _PARTS]) for at in range(0, len(sums), _PARTS)]
        found = (from_delayed(sums[0][1 + at], leaf.shape, meta=meta.detach()[:0] if meta.ndim else meta.detach())
                 for at, (leaf, meta) in enumerate(zip(leaves, metas)))  # fmt: skip
        return from_delayed(sums[0][0], (), meta=metas[0].detach().sum()), _map(lambda leaf: next(found), parameters)

    return differentiated
