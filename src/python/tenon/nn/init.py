"""The first values of parameters, written in place and not recorded.

https://pytorch.org/docs/stable/nn.init.html
"""

import math
import warnings

from .. import bfloat16, contiguous_format, empty_like, float16, float64, linalg, no_grad, randperm, where
from .. import eye as _eye

__all__ = """
    calculate_gain constant_ dirac_ eye_ kaiming_normal_ kaiming_uniform_ normal_ ones_ orthogonal_ sparse_ trunc_normal_ uniform_
    xavier_normal_ xavier_uniform_ zeros_
""".split()


def calculate_gain(nonlinearity, param=None):
    """The factor by which a layer's deviation must grow before a nonlinearity."""
    if nonlinearity in "linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d sigmoid".split():
        return 1
    known = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
    if nonlinearity in known:
        return known[nonlinearity]
    if nonlinearity != "leaky_relu":
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
        raise ValueError(f"negative_slope {param} not a valid number")
    slope = 0.01 if param is None else param
    return math.sqrt(2.0 / (1 + slope**2))


def _fans(tensor):
    """(how many inputs an output has, how many outputs an input)"""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


def _fan(tensor, mode):
    modes = ["fan_in", "fan_out"]
    if mode.lower() not in modes:
        raise ValueError(f"Mode {mode.lower()} not supported, please use one of {modes}")
    return _fans(tensor)[modes.index(mode.lower())]


@no_grad()
def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Uniform numbers from a to b."""
    return tensor.uniform_(a, b, generator=generator)


@no_grad()
def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Normal numbers."""
    return tensor.normal_(mean, std, generator=generator)


@no_grad()
def constant_(tensor, val):
    """One number everywhere."""
    return tensor.fill_(val)


@no_grad()
def ones_(tensor):
    """1 everywhere."""
    return tensor.fill_(1.0)


@no_grad()
def zeros_(tensor):
    """0 everywhere."""
    return tensor.zero_()


@no_grad()
def eye_(tensor):
    """The identity."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return tensor.copy_(_eye(*tensor.shape, dtype=tensor.dtype))


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Uniform numbers with the variance 2 gain^2 / (inputs + outputs)."""
    bound = math.sqrt(3.0) * (gain * math.sqrt(2.0 / float(sum(_fans(tensor)))))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Normal numbers with the variance 2 gain^2 / (inputs + outputs)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(sum(_fans(tensor)))), generator)


def _kaiming_std(tensor, a, mode, nonlinearity):
    """None for a tensor without elements."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return None
    fan = _fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Uniform numbers with the variance gain^2 / inputs (or outputs)."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else uniform_(tensor, -(math.sqrt(3.0) * std), math.sqrt(3.0) * std, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Normal numbers with the variance gain^2 / inputs (or outputs)."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0, std, generator)


@no_grad()
def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Normal numbers, and a share of zeros in each column."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    tensor.normal_(0, std, generator=generator)
    for column in range(columns):
        tensor[randperm(rows)[:zeros], column] = 0
    return tensor


@no_grad()
def orthogonal_(tensor, gain=1, generator=None):
    """Orthogonal rows, or columns where these are fewer, of the length gain. Dims after the first count as one."""
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0 or tensor.is_meta:
        return tensor
    rows = tensor.size(0)
    drawn = tensor.new_empty((rows, tensor.numel() // rows)).normal_(0, 1, generator=generator)
    if tensor.dtype in (float16, bfloat16):
        raise NotImplementedError(f"\"geqrf_cpu\" not implemented for '{'Half' if tensor.dtype == float16 else 'BFloat16'}'")
    if tensor.is_complex():
        drawn.sign()  # raises PyTorch's error
    vectors = _orthonormal_rows(drawn if rows < drawn.size(1) else drawn.t())
    tensor.view_as(drawn).copy_(vectors if rows < drawn.size(1) else vectors.t())
    return tensor.mul_(gain)


def _orthonormal_rows(rows):
    """Rows that span the same, each orthogonal to those before it and on its own side of these: a QR decomposition whose R
    has a positive diagonal. Each is projected twice, which leaves errors of a rounding."""
    wide = rows.to(float64)
    found = empty_like(wide, memory_format=contiguous_format)
    for number in range(wide.size(0)):
        before, row = found[:number], wide[number]
        for _ in range(2):
            row = row - (before @ row) @ before
        found[number] = row / linalg.vector_norm(row)
    return found


def _below(x):
    """The share of normal numbers below x."""
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


@no_grad()
def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Normal numbers between a and b, by rejection."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn("mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.", stacklevel=2)
    if _below((b - mean) / std) - _below((a - mean) / std) > 0.3:
        return _redraw_normal(tensor, mean, std, a, b, generator)
    return _redraw_uniform(tensor, mean, std, a, b, generator)


def _redraw_normal(tensor, mean, std, a, b, generator):
    low, high = (tensor.new_tensor(end).item() for end in (a, b))
    drawn = tensor.normal_(mean, std, generator=generator)
    while (outside := (drawn < low) | (drawn > high)).any():
        drawn = where(outside, empty_like(drawn).normal_(mean, std, generator=generator), drawn)
    return tensor.copy_(drawn)


def _redraw_uniform(tensor, mean, std, a, b, generator):
    """Accepts uniform numbers with the density over its highest value."""
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2

    def refused(drawn):
        log_density = drawn.sub(mean).div_(std).pow_(2).mul_(-0.5).sub_(peak)
        return empty_like(drawn).uniform_(generator=generator).log_() > log_density

    drawn = tensor.uniform_(a, b, generator=generator).clone()
    pending = refused(drawn)
    while pending.any():
        others = empty_like(drawn).uniform_(a, b, generator=generator)
        drawn = where(pending, others, drawn)
        pending = where(pending, refused(others), pending)
    return tensor.copy_(drawn)


@no_grad()
def dirac_(tensor, groups=1):
    """1 in the middle of the window of each channel that is kept, elsewhere 0: a convolution by it gives its input."""
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.size(0) % groups:
        raise ValueError("dim 0 must be divisible by groups")
    tensor.zero_()
    middle = [size // 2 for size in tensor.shape[2:]]
    each = tensor.size(0) // groups
    for group in range(groups):
        for channel in range(min(each, tensor.size(1))):
            tensor[(group * each + channel, channel, *middle)] = 1
    return tensor


def _deprecated(function):
    """The function under its name of old, without the underscore."""
    new = function.__name__
    old = new[:-1]

    def deprecated_init(*args, **kwargs):
        warnings.warn(f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.", FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    deprecated_init.__name__, deprecated_init.__doc__ = old, f"Deprecated: {new}."
    return deprecated_init


uniform, normal, constant, eye, dirac = map(_deprecated, (uniform_, normal_, constant_, eye_, dirac_))
xavier_uniform, xavier_normal = map(_deprecated, (xavier_uniform_, xavier_normal_))
kaiming_uniform, kaiming_normal = map(_deprecated, (kaiming_uniform_, kaiming_normal_))
orthogonal, sparse = map(_deprecated, (orthogonal_, sparse_))
