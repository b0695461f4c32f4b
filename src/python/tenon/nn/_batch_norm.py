"""What batch_norm refuses, in the order and with the texts of PyTorch."""

import tenon

from .._dtypes import FLOATS, kind_of, require


def _check_channels(channels, **parameters):
    for name, parameter in parameters.items():
        if parameter is not None and parameter.numel() != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {parameter.numel()}")


def _check_same(dtype, parameters):
    for parameter in parameters:
        if parameter is not None and parameter.dtype is not dtype:
            raise RuntimeError(f"expected scalar type {kind_of(dtype)} but found {kind_of(parameter.dtype)}")


def _check_dtypes(input, weight, bias, running_mean, running_var, training):
    """16-bit input takes float32 parameters. Which of two texts PyTorch has depends on the first parameter."""
    affine, running = (weight, bias), (running_mean, running_var)
    given = [parameter for parameter in affine + running if parameter is not None]
    if not given or given[0].dtype is input.dtype:
        return _check_same(input.dtype, running + affine if training else affine + running)
    if any(parameter.dtype is not tenon.float32 for parameter in given):
        raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
    if input.dtype not in (tenon.float16, tenon.bfloat16):
        raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")


def check_batch_norm(input, running_mean, running_var, weight, bias, training):
    """Raises for arguments that batch_norm does not take."""
    channels = input.shape[1] if input.dim() > 1 else 0
    for name, running in (("running_mean", running_mean), ("running_var", running_var)):
        if running is None and not training:
            raise RuntimeError(f"{name} must be defined in evaluation mode")
        _check_channels(channels, **{name: running})
    _check_channels(channels, weight=weight, bias=bias)
    if training:
        input.size(1)  # raises for input of one dim: in training PyTorch asks for the channels before it looks at the dtype
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    require("batch_norm", input, FLOATS)
    input.size(1)  # and in evaluation after it
    _check_dtypes(input, weight, bias, running_mean, running_var, training)
