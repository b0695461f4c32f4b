"""Tenon: tensors whose broadcasting is exactly PyTorch's.

`import tenon as torch` runs ordinary broadcasting code unchanged.
"""

from math import e, inf, nan, pi

from . import _tenon
from ._tenon import *
from ._tenon import __version__, _fft_c2c, _fft_c2r, _fft_r2c
from ._dtypes import finfo, iinfo
from ._functions import (
    as_tensor,
    asarray,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    block_diag,
    broadcast_shapes,
    broadcast_tensors,
    cartesian_prod,
    cdist,
    chain_matmul,
    einsum,
    frombuffer,
    from_dlpack,
    gradient,
    is_tensor,
    load,
    meshgrid,
    save,
    set_default_dtype,
    set_num_threads,
    set_printoptions,
    split,
    unravel_index,
    tensordot,
    unique,
    unique_consecutive,
)
from ._budget import memory_budget
from ._fuse_decorator import fuse
from ._grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from ._policy import broadcast_policy
from .random import Generator, default_generator, fork_rng, get_rng_state, initial_seed, manual_seed, seed, set_rng_state
from . import _tensor, return_types, utils

_tensor.extend(Tensor)
for _value in list(globals().values()):  # help() and pickle name the package, not the file
    if getattr(_value, "__module__", "").startswith(("tenon._", "tenon.random")):
        _value.__module__ = "tenon"
del _value

# NumPy and the array API spell them so.
bool_ = _tenon.bool
newaxis = None
double, float, half, int, long, short = float64, float32, float16, int32, int64, int16
cfloat, cdouble = complex64, complex128

_MODULES = ("autograd", "cuda", "fft", "func", "linalg", "nn", "optim", "special", "testing", "array_api", "backends", "dask", "einops", "mps", "version", "xpu")
# Where functions are that few programs call.
_ELSEWHERE = {"vmap": "func", "is_storage": "_storage", "UntypedStorage": "_storage", "TypedStorage": "_storage"}


def __getattr__(name):
    # Loaded when first used: an import costs what it uses.
    if name.startswith("__"):
        raise AttributeError(f"module 'tenon' has no attribute '{name}'")
    import importlib

    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    if name in _ELSEWHERE:
        return getattr(importlib.import_module("." + _ELSEWHERE[name], __name__), name)
    for file in ("_settings", "_more_functions", "_decompositions", "_layers"):
        module = importlib.import_module("." + file, __name__)
        if name in module.__all__:
            return getattr(module, name)
    if name.endswith("Tensor"):
        from . import _legacy

        if name in _legacy.TYPES:
            return _legacy.TYPES[name]
    from . import _missing

    _missing.refuse("", name)
