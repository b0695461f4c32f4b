"""Dropout, of elements and of channels. PyTorch: Dropout.cpp; the same random numbers are drawn."""

import math
import warnings

import tenon

from .._arguments import check_tensor


def _check(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def drop(input, p, training, inplace, by_channel=False, alpha=False, name="dropout"):
    """Dropout after all checks. With alpha elements become that of selu's lower end, and mean and variance are kept."""
    check_tensor(name + "_" * inplace, input)
    if p == 0 or not training or input.numel() == 0:
        return input
    multiply = tenon.Tensor.mul_ if inplace else tenon.mul
    if p == 1:
        return multiply(input, tenon.zeros((), dtype=input.dtype, device=input.device))
    noise = _channel_noise(input) if by_channel else tenon.empty_like(input.detach())
    noise.bernoulli_(1 - p)
    if not alpha:
        return multiply(input, noise.div_(1 - p))
    lowest = 1.7580993408473766
    scale = 1 / math.sqrt((lowest * lowest * p + 1) * (1 - p))
    shift = noise.add(-1).mul_(lowest * scale).add_(lowest * scale * p)
    return multiply(input, noise.mul_(scale)).add_(shift) if inplace else input * noise.mul_(scale) + shift


def _channel_noise(input):
    if input.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return tenon.empty((*input.shape[:2], *[1] * (input.dim() - 2)), dtype=input.dtype, device=input.device)


def dropout(input, p=0.5, training=True, inplace=False):
    """In training each element is 0 with probability p, and otherwise divided by 1 - p."""
    _check(p)
    return drop(input, p, training, inplace)


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """dropout that keeps mean and variance of what selu gave."""
    _check(p)
    return drop(input, p, training, inplace, alpha=True, name="alpha_dropout")


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """alpha_dropout of whole channels."""
    _check(p)
    return drop(input, p, training, inplace, by_channel=True, alpha=True, name="feature_alpha_dropout")


def _of_channels(input, is_batch, p, training, inplace):
    """dropout of channels, of a batch or of one element of one."""
    if is_batch:
        return drop(input, p, training, inplace, by_channel=True)
    if inplace:
        return drop(input.unsqueeze_(0), p, training, True, by_channel=True).squeeze_(0)
    return drop(input.unsqueeze(0), p, training, False, by_channel=True).squeeze(0)


def _with_batch(name, ranks, text, input, p, training, inplace):
    """dropout of channels, of a batch or of one element alone."""
    _check(p)
    rank = input.dim()
    if rank not in ranks:
        raise RuntimeError(f"{name}: Expected {ranks[0]}D or {ranks[1]}D input, but received a {rank}D input. Note that {name} exists to provide {text}")
    return _of_channels(input, rank == ranks[1], p, training, inplace)


def dropout1d(input, p=0.5, training=True, inplace=False):
    """dropout of whole channels of [batch, channels, size] or [channels, size]."""
    text = "channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs)."
    return _with_batch("dropout1d", (2, 3), text, input, p, training, inplace)


def dropout2d(input, p=0.5, training=True, inplace=False):
    """dropout of whole channels of [batch, channels, height, width]."""
    _check(p)
    if input.dim() not in (3, 4):
        warnings.warn(
            f"dropout2d: Received a {input.dim()}-D input to dropout2d, which is deprecated and will result in an error in a future release. "
            "To retain the behavior and silence this warning, please use dropout instead. Note that dropout2d exists to provide channel-wise "
            "dropout on inputs with 2 spatial dimensions, a channel dimension, and an optional batch dimension (i.e. 3D or 4D inputs).",
            stacklevel=2,
        )
    if input.dim() == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - input is interpreted "
            "as shape (N, C, L), where C is the channel dim. This behavior will change in a future release to interpret the input as one without "
            "a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise dropout behavior, please switch to using dropout1d instead.",
            stacklevel=2,
        )
    return drop(input, p, training, inplace, by_channel=True)


def dropout3d(input, p=0.5, training=True, inplace=False):
    """dropout of whole channels of [batch, channels, depth, height, width]."""
    _check(p)
    if input.dim() not in (4, 5):
        warnings.warn(
            f"dropout3d: Received a {input.dim()}-D input to dropout3d, which is deprecated and will result in an error in a future release. "
            "To retain the behavior and silence this warning, please use dropout instead. Note that dropout3d exists to provide channel-wise "
            "dropout on inputs with 3 spatial dimensions, a channel dimension, and an optional batch dimension (i.e. 4D or 5D inputs).",
            stacklevel=2,
        )
    return _of_channels(input, input.dim() == 5, p, training, inplace)
