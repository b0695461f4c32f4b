"""Settings of PyTorch's process that programs read or write. Most change nothing here: ops are deterministic and exact on one device."""

import warnings

from . import _tenon

__all__ = """
    are_deterministic_algorithms_enabled compile get_default_device get_deterministic_debug_mode get_float32_matmul_precision
    get_num_interop_threads is_anomaly_check_nan_enabled is_anomaly_enabled is_deterministic_algorithms_warn_only_enabled
    is_warn_always_enabled set_anomaly_enabled set_default_device set_default_tensor_type set_deterministic_debug_mode
    set_float32_matmul_precision set_flush_denormal set_num_interop_threads set_warn_always use_deterministic_algorithms
""".split()

_set = {"deterministic": False, "warn_only": False, "precision": "highest", "interop": None, "warn_always": False}


def _check_bool(function, name, value):
    if not isinstance(value, bool):
        raise TypeError(f"{function}(): argument '{name}' (position 1) must be bool, not {type(value).__name__}")


# --- Deterministic algorithms


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Notes the choice: Tenon's results never depend on the number of threads."""
    _check_bool("_set_deterministic_algorithms", "mode", mode)
    _set.update(deterministic=mode, warn_only=mode and warn_only)


def are_deterministic_algorithms_enabled():
    """What use_deterministic_algorithms was told."""
    return _set["deterministic"]


def is_deterministic_algorithms_warn_only_enabled():
    """What use_deterministic_algorithms was told."""
    return _set["warn_only"]


def set_deterministic_debug_mode(debug_mode):
    """use_deterministic_algorithms by a word or a number: "default" (0), "warn" (1), "error" (2)."""
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    words = {"default": 0, "warn": 1, "error": 2}
    if isinstance(debug_mode, str) and debug_mode not in words:
        raise RuntimeError(f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}")
    number = words.get(debug_mode, debug_mode)
    if number not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {number}")
    use_deterministic_algorithms(number > 0, warn_only=number == 1)


def get_deterministic_debug_mode():
    """0, 1 or 2; see set_deterministic_debug_mode."""
    return _set["deterministic"] * (1 if _set["warn_only"] else 2)


# --- Precision and threads


def set_float32_matmul_precision(precision):
    """Notes the choice: products of float32 are always computed in float32."""
    if not isinstance(precision, str):
        raise RuntimeError(f"set_float32_matmul_precision expects a str, but got {type(precision).__name__}")
    if precision in ("highest", "high", "medium"):
        _set["precision"] = precision
    else:
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the currentsetFloat32MatmulPrecision call has no effect.", stacklevel=2
        )


def get_float32_matmul_precision():
    """What set_float32_matmul_precision was told."""
    return _set["precision"]


def set_flush_denormal(mode):
    """False: numbers below the normal ones are kept."""
    _check_bool("set_flush_denormal", "mode", mode)
    return not mode


def set_num_interop_threads(int, /):
    """Notes the number: an op begins after the one before has ended."""
    if type(int) is bool or not hasattr(int, "__index__"):
        raise RuntimeError(f"set_num_interop_threads expects an int, but got {type(int).__name__}")
    if int < 1:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    if _set["interop"] is not None:
        raise RuntimeError("Error: cannot set number of interop threads after parallel work has started or set_num_interop_threads called")
    _set["interop"] = int.__index__()


def get_num_interop_threads():
    """What set_num_interop_threads was told; otherwise as many as there are cores."""
    import os

    return _set["interop"] or os.cpu_count() or 1


# --- Warnings and anomaly mode


def set_warn_always(b, /):
    """Notes the choice: Tenon gives every warning each time; Python's filters decide which are shown."""
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    _set["warn_always"] = b


def is_warn_always_enabled():
    """What set_warn_always was told."""
    return _set["warn_always"]


def set_anomaly_enabled(mode, check_nan=True):
    """autograd.set_detect_anomaly."""
    _tenon._set_anomaly_mode(mode, check_nan)


def is_anomaly_enabled():
    """Whether autograd.detect_anomaly is in force."""
    return _tenon._anomaly_mode()[0]


def is_anomaly_check_nan_enabled():
    """Whether it looks for NaN."""
    return _tenon._anomaly_mode()[1]


# --- Defaults of factories


def set_default_device(device):
    """The device of factories that name none: cpu or meta; None means cpu."""
    _tenon._set_default_device(None if device is None else _tenon.device(device))


def get_default_device():
    """The device of factories that name none."""
    return _tenon._get_default_device()


def set_default_tensor_type(t, /):
    """set_default_dtype by a type of tensors: FloatTensor, DoubleTensor, ... or its name."""
    from . import _functions, _legacy

    kind = _legacy.type_named(t) if isinstance(t, str) else t
    if not isinstance(kind, _legacy.TensorType):
        raise TypeError("invalid type object")
    if not kind.dtype.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _functions.set_default_dtype(kind.dtype)


def compile(model=None, *, fullgraph=False, dynamic=None, backend="inductor", mode=None, options=None, disable=False, recompile_limit=None):
    """The function itself: nothing is compiled. Without it a decorator, as in PyTorch."""
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    return (lambda function: function) if model is None else model
