"""The array API for Cubed, which names dtypes by NumPy's: CUBED_BACKEND_ARRAY_API_MODULE=tenon.cubed."""

import functools

import numpy

from . import array_api
from ._array_names import own_dtype
from ._numpy import _from_array


def _own(value):
    if isinstance(value, numpy.dtype) or (isinstance(value, type) and issubclass(value, numpy.generic)):
        return own_dtype(value)
    return _from_array(value) if isinstance(value, (numpy.ndarray, list, tuple)) else value


def _of_cubed(name, function):
    @functools.wraps(function)
    def called(*args, **named):
        return function(*map(_own, args), **{key: _own(value) for key, value in named.items()})

    called.__module__, called.__qualname__ = __name__, name  # pickled by name
    return called


def __getattr__(name):
    value = getattr(array_api, name)
    is_function = callable(value) and not isinstance(value, type)
    globals()[name] = _of_cubed(name, value) if is_function else value
    return globals()[name]
