"""Dropout, of elements and of channels. tenon.dropout and its relatives compute it."""

import warnings

import tenon


def _check(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input, p=0.5, training=True, inplace=False):
    """In training each element is 0 with probability p, and otherwise divided by 1 - p."""
    _check(p)
    return (tenon.dropout_ if inplace else tenon.dropout)(input, p, training)


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """dropout that keeps mean and variance of what selu gave."""
    _check(p)
    return (tenon.alpha_dropout_ if inplace else tenon.alpha_dropout)(input, p, training)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """alpha_dropout of whole channels."""
    _check(p)
    return (tenon.feature_alpha_dropout_ if inplace else tenon.feature_alpha_dropout)(input, p, training)


def _of_channels(input, is_batch, p, training, inplace):
    """dropout of channels, of a batch or of one element of one."""
    drop = tenon.feature_dropout_ if inplace else tenon.feature_dropout
    if is_batch:
        return drop(input, p, training)
    if inplace:
        return drop(input.unsqueeze_(0), p, training).squeeze_(0)
    return drop(input.unsqueeze(0), p, training).squeeze(0)


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
    return _of_channels(input, True, p, training, inplace)


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
