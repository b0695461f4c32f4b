"""Teaches xarray the dtypes of tensors. Import it once: `import tenon.xarray`.

xarray finds the value that fills gaps (of rolling windows, shifts, new labels) by NumPy's dtypes alone, and interpolates by
SciPy, which gives arrays.
"""

import functools

import numpy
import xarray
from xarray.core import dtypes, missing

import tenon


def _of_numpy(function):
    """The function, given NumPy's dtype instead of a tensor's."""

    @functools.wraps(function)
    def call(dtype, *args, **kwargs):
        return function(numpy.dtype(dtype) if isinstance(dtype, tenon.dtype) else dtype, *args, **kwargs)

    return call


def _gives_tensors(function):
    @functools.wraps(function)
    def call(var, *args, **kwargs):
        result = function(var, *args, **kwargs)
        if isinstance(var.data, tenon.Tensor) and isinstance(result.data, numpy.ndarray):
            result = result.copy(deep=False, data=tenon.tensor(result.data))
        return result

    return call


if not getattr(xarray, "_knows_tenon", False):  # a second import, after sys.modules was cleared, would wrap them again
    dtypes.maybe_promote, dtypes.isdtype = _of_numpy(dtypes.maybe_promote), _of_numpy(dtypes.isdtype)
    missing.interp = _gives_tensors(missing.interp)
    xarray.set_options(use_opt_einsum=False)  # opt_einsum calls functions of the package of an array by NumPy's parameters
    xarray._knows_tenon = True
