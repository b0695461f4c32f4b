"""The names of the Python array API standard, as far as there are ops for them.

https://data-apis.org/array-api/latest
"""

import tenon
from tenon import (
    abs, all, any, arange, asarray, bool, can_cast, clamp, e, empty, empty_like, exp, eye, finfo, float32, float64, from_dlpack,
    full, full_like, iinfo, inf, int8, int16, int32, int64, isfinite, isnan, linspace, log, logical_and, logical_not,
    logical_or, logical_xor, maximum, mean, minimum, moveaxis, nan, newaxis, ones, ones_like, permute as permute_dims, pi,
    reciprocal, reshape, sqrt, square, squeeze, sum, uint8, where, zeros, zeros_like,
)  # fmt: skip
from tenon import (
    add, amax as max, amin as min, broadcast_to, div as divide, eq as equal, ge as greater_equal, gt as greater, le as less_equal,
    lt as less, mul as multiply, ne as not_equal, neg as negative, sub as subtract,
)  # fmt: skip

__array_api_version__ = "2024.12"


def namespace(api_version=None):
    import sys

    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        raise ValueError(f"the array API of {api_version} is not known")
    return sys.modules[__name__]


def astype(x, dtype, /, *, copy=True, device=None):
    return x.to(device=device, dtype=dtype, copy=copy)


def broadcast_arrays(*arrays):
    return list(tenon.broadcast_tensors(*arrays))


def broadcast_shapes(*shapes):
    return tuple(tenon.broadcast_shapes(*shapes))


def clip(x, /, min=None, max=None):
    return x.clone() if min is None and max is None else clamp(x, min, max)


def expand_dims(x, /, *, axis=0):
    return x.unsqueeze(axis)


def floor_divide(x1, x2, /):
    return x1 // x2


def isdtype(dtype, kind):
    kinds = {
        "bool": dtype is tenon.bool,
        "signed integer": dtype in (int8, int16, int32, int64),
        "unsigned integer": dtype is uint8,
        "integral": dtype in (uint8, int8, int16, int32, int64),
        "real floating": dtype.is_floating_point,
        "complex floating": False,
        "numeric": dtype is not tenon.bool,
    }
    if isinstance(kind, tuple):
        return builtins_any(isdtype(dtype, part) for part in kind)
    return kinds[kind] if isinstance(kind, str) else dtype is kind


def builtins_any(values):
    return True in values


def isinf(x, /):
    return abs(x) == inf if x.is_floating_point() else zeros_like(x, dtype=tenon.bool)


def matrix_transpose(x, /):
    return x.mT


def nonzero(x, /):
    return tenon.nonzero(x, as_tuple=True)


def positive(x, /):
    return x.clone()


def result_type(*values):
    if len(values) == 1:
        return values[0] if isinstance(values[0], tenon.dtype) else values[0].dtype
    dtypes = [value if isinstance(value, tenon.dtype) else value.dtype if isinstance(value, tenon.Tensor) else value for value in values]
    common = None
    for value in dtypes:
        if isinstance(value, tenon.dtype):
            common = value if common is None else tenon.promote_types(common, value)
    for value in dtypes:
        if not isinstance(value, tenon.dtype):
            common = tenon.result_type(ones(1, dtype=common), value)
    return common


class _Info:
    """What this namespace can do."""

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}

    def default_device(self):
        return tenon.device("cpu")

    def devices(self):
        return [tenon.device("cpu")]

    def default_dtypes(self, *, device=None):
        return {"real floating": tenon.get_default_dtype(), "complex floating": None, "integral": int64, "indexing": int64}

    def dtypes(self, *, device=None, kind=None):
        names = ("bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64")
        return {name: getattr(tenon, name) for name in names if kind is None or isdtype(getattr(tenon, name), kind)}


def __array_namespace_info__():
    return _Info()
