"""The functions of torch.nn.functional that exist here."""

import warnings

import tenon

from .._tenon import _nn, celu_, hardshrink, pixel_shuffle, pixel_unshuffle, prelu, relu_, rrelu_, selu_, threshold_

__all__ = """
    binary_cross_entropy binary_cross_entropy_with_logits celu celu_ channel_shuffle cosine_embedding_loss cross_entropy elu elu_ gaussian_nll_loss gelu
    glu hardshrink hardsigmoid hardswish hardtanh hardtanh_ hinge_embedding_loss huber_loss kl_div l1_loss leaky_relu leaky_relu_
    logsigmoid margin_ranking_loss mish mse_loss nll_loss one_hot pad pixel_shuffle pixel_unshuffle poisson_nll_loss prelu relu relu6 relu_ rrelu rrelu_ selu selu_ silu
    smooth_l1_loss soft_margin_loss softplus softshrink softsign tanhshrink threshold threshold_
""".split()

elu_, gelu, hardtanh_, leaky_relu_ = _nn.elu_, _nn.gelu, _nn.hardtanh_, _nn.leaky_relu_
channel_shuffle, one_hot = _nn.channel_shuffle, _nn.one_hot
logsigmoid, softplus, softshrink = _nn.logsigmoid, _nn.softplus, _nn.softshrink


# --- Activations


def relu(input, inplace=False):
    """Every element raised to 0; NaN stays."""
    return relu_(input) if inplace else tenon.relu(input)


def relu6(input, inplace=False):
    """Every element limited to the range from 0 to 6."""
    return _nn.relu6_(input) if inplace else _nn.relu6(input)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """Every element limited to the range from min_val to max_val."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return hardtanh_(input, min_val, max_val) if inplace else _nn.hardtanh(input, min_val, max_val)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """The elements above 0, and the others times negative_slope."""
    return leaky_relu_(input, negative_slope) if inplace else _nn.leaky_relu(input, negative_slope)


def elu(input, alpha=1.0, inplace=False):
    """The elements above 0, and alpha * (exp(input) - 1) of the others."""
    return elu_(input, alpha) if inplace else _nn.elu(input, alpha)


def selu(input, inplace=False):
    """elu with alpha 1.6732..., times 1.0507..."""
    return selu_(input) if inplace else tenon.selu(input)


def celu(input, alpha=1.0, inplace=False):
    """The elements above 0, and alpha * (exp(input / alpha) - 1) of the others."""
    return celu_(input, alpha) if inplace else tenon.celu(input, alpha)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """leaky_relu with a slope between lower and upper: in training drawn for each element, otherwise their mean."""
    return rrelu_(input, lower, upper, training) if inplace else tenon.rrelu(input, lower, upper, training)


def threshold(input, threshold, value, inplace=False):
    """The elements above threshold, and value instead of the others."""
    return threshold_(input, threshold, value) if inplace else tenon.threshold(input, threshold, value)


def silu(input, inplace=False):
    """input / (1 + exp(-input))."""
    return _nn.silu_(input) if inplace else _nn.silu(input)


def mish(input, inplace=False):
    """input * tanh(softplus(input))."""
    return _nn.mish_(input) if inplace else _nn.mish(input)


def hardsigmoid(input, inplace=False):
    """input + 3, limited to the range from 0 to 6, over 6."""
    return _nn.hardsigmoid_(input) if inplace else _nn.hardsigmoid(input)


def hardswish(input, inplace=False):
    """input * hardsigmoid(input)."""
    return _nn.hardswish_(input) if inplace else _nn.hardswish(input)


def glu(input, dim=-1):
    """The first half along dim times the sigmoid of the second half."""
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return _nn.glu(input, dim)


def tanhshrink(input):
    """input - tanh(input)."""
    return input - input.tanh()


def softsign(input):
    """input / (|input| + 1)."""
    return input / (input.abs() + 1)


# --- Padding


def pad(input, pad, mode="constant", value=None):
    """input with more elements before and after its last dims, two numbers for each dim, from the last one on.

    They are a number, or with mode="reflect", "replicate" and "circular" elements of input: mirrored, the outermost ones, or
    those from the other end.
    """
    return _nn.pad(input, pad, mode, value)


# --- Losses


def _reduction(reduction, size_average=None, reduce=None):
    """The word that the older arguments stand for, if one of them is given."""
    if size_average is not None or reduce is not None:
        averages, reduces = size_average is None or size_average, reduce is None or reduce
        reduction = ("mean" if averages else "sum") if reduces else "none"
        warnings.warn(f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.", stacklevel=3)
    elif reduction == "elementwise_mean":
        warnings.warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=3)
        reduction = "mean"
    if not isinstance(reduction, str):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def _warn_of_sizes(input, target):
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size (torch.Size({list(target.size())})) that is different to the input size "
            f"(torch.Size({list(input.size())})). This will likely lead to incorrect results due to broadcasting. Please ensure they have "
            "the same size.",
            stacklevel=3,
        )


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """The squares of input - target."""
    _warn_of_sizes(input, target)
    return _nn.mse_loss(input, target, _reduction(reduction, size_average, reduce), weight)


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """The magnitudes of input - target."""
    _warn_of_sizes(input, target)
    return _nn.l1_loss(input, target, _reduction(reduction, size_average, reduce), weight)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """Where |input - target| is below beta its square over 2 beta, elsewhere itself less beta / 2."""
    _warn_of_sizes(input, target)
    return _nn.smooth_l1_loss(input, target, _reduction(reduction, size_average, reduce), beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """Where |input - target| is below delta half its square, elsewhere delta * (itself - delta / 2)."""
    _warn_of_sizes(input, target)
    return _nn.huber_loss(input, target, _reduction(reduction), delta, weight)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """-(target * log(input) + (1 - target) * log(1 - input))."""
    reduction = _reduction(reduction, size_average, reduce)
    if target.size() == input.size() and weight is not None:
        weight = weight.expand(tenon.broadcast_shapes(target.size(), weight.size()))
    return _nn.binary_cross_entropy(input, target, weight, reduction)


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
    """binary_cross_entropy of sigmoid(input), without overflow."""
    return _nn.binary_cross_entropy_with_logits(input, target, weight, _reduction(reduction, size_average, reduce), pos_weight)


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """target * (log(target) - input); with log_target target is a logarithm already."""
    if size_average is None and reduce is None and reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only by the batch "
            "size, and aligns with the KL div math definition.'mean' will be changed to behave the same as 'batchmean' in the next major "
            "release.",
            stacklevel=2,
        )
    return _nn.kl_div(input, target, _reduction(reduction, size_average, reduce), log_target=log_target)


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """The negative elements of input at the classes that target says."""
    return _nn.nll_loss(input, target, weight, ignore_index, _reduction(reduction, size_average, reduce))


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
    """nll_loss of log_softmax(input); target holds classes, or their probabilities if it has the shape of input."""
    return _nn.cross_entropy(input, target, weight, ignore_index, _reduction(reduction, size_average, reduce), label_smoothing)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """(log(var) + (input - target)^2 / var) / 2 with var at least eps."""
    return _nn.gaussian_nll_loss(input, target, var, bool(full), eps, reduction)


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
    """exp(input) - target * input, or without log_input input - target * log(input + eps)."""
    if size_average is not None or reduce is not None:
        reduction = _reduction(reduction, size_average, reduce)
    return _nn.poisson_nll_loss(input, target, log_input, full, eps, reduction)


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """input where target is 1, and margin - input, at least 0, where it is -1."""
    return _nn.hinge_embedding_loss(input, target, margin, _reduction(reduction, size_average, reduce))


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """margin - target * (input1 - input2), at least 0."""
    return _nn.margin_ranking_loss(input1, input2, target, margin, _reduction(reduction, size_average, reduce))


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-target * input))."""
    return _nn.soft_margin_loss(input, target, _reduction(reduction, size_average, reduce))


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """1 - cosine between rows of input1 and input2 where target is 1, and cosine - margin, at least 0, where it is -1."""
    return _nn.cosine_embedding_loss(input1, input2, target, margin, _reduction(reduction, size_average, reduce))
