"""The functions of torch.nn.functional that exist here."""

import math
import warnings

import tenon

from .._arguments import check_tensor
from .._dtypes import FLOATS, require
from .._tenon import _nn, bilinear, celu_, channel_shuffle, cosine_similarity, hardshrink, pairwise_distance, pdist, pixel_shuffle, pixel_unshuffle, prelu, relu_, rrelu_, selu_, threshold_
from ._blocks import fold, unfold
from ._dropout import alpha_dropout, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout
from ._margin_losses import multi_margin_loss, multilabel_margin_loss, multilabel_soft_margin_loss, triplet_margin_loss, triplet_margin_with_distance_loss

__all__ = """
    alpha_dropout batch_norm bilinear binary_cross_entropy binary_cross_entropy_with_logits celu celu_ channel_shuffle
    cosine_embedding_loss cosine_similarity cross_entropy dropout dropout1d dropout2d dropout3d elu elu_ embedding
    feature_alpha_dropout fold gaussian_nll_loss gelu glu group_norm gumbel_softmax hardshrink hardsigmoid hardswish hardtanh
    hardtanh_ hinge_embedding_loss huber_loss instance_norm kl_div l1_loss layer_norm leaky_relu leaky_relu_ linear
    local_response_norm log_softmax logsigmoid margin_ranking_loss mish mse_loss multi_margin_loss multilabel_margin_loss
    multilabel_soft_margin_loss nll_loss normalize one_hot pad pairwise_distance pdist pixel_shuffle pixel_unshuffle
    poisson_nll_loss prelu relu relu6 relu_ rms_norm rrelu rrelu_ scaled_dot_product_attention selu selu_ sigmoid silu
    smooth_l1_loss soft_margin_loss softmax softmin softplus softshrink softsign tanh tanhshrink threshold threshold_
    triplet_margin_loss triplet_margin_with_distance_loss unfold
""".split()

elu_, gelu, hardtanh_, leaky_relu_ = _nn.elu_, _nn.gelu, _nn.hardtanh_, _nn.leaky_relu_
linear, one_hot = _nn.linear, _nn.one_hot
scaled_dot_product_attention = _nn.scaled_dot_product_attention
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


def sigmoid(input):
    """1 / (1 + exp(-input))."""
    return input.sigmoid()


def tanh(input):
    """The hyperbolic tangent."""
    return input.tanh()


def tanhshrink(input):
    """input - tanh(input)."""
    return _nn.tanhshrink(input) if isinstance(input, tenon.Tensor) else input - input.tanh()


def softsign(input):
    """input / (|input| + 1)."""
    return _nn.softsign(input) if isinstance(input, tenon.Tensor) else input / (input.abs() + 1)


# --- Padding


def pad(input, pad, mode="constant", value=None):
    """input with more elements before and after its last dims, two numbers for each dim, from the last one on.

    They are a number, or with mode="reflect", "replicate" and "circular" elements of input: mirrored, the outermost ones, or
    those from the other end.
    """
    return _nn.pad(input, pad, mode, value)


def _softmax_dim(name, ndim, stacklevel):
    """The dim that older calls leave out."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.", stacklevel=stacklevel
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(input), divided by its sum along dim."""
    if dim is None:
        dim = _softmax_dim("softmax", input.dim(), _stacklevel)
    return input.softmax(dim) if dtype is None else input.softmax(dim, dtype=dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax of -input."""
    if dim is None:
        dim = _softmax_dim("softmin", input.dim(), _stacklevel)
    return (-input).softmax(dim) if dtype is None else (-input).softmax(dim, dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """The logarithm of softmax, without its underflow."""
    if dim is None:
        dim = _softmax_dim("log_softmax", input.dim(), _stacklevel)
    return input.log_softmax(dim) if dtype is None else input.log_softmax(dim, dtype=dtype)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """A draw of classes with the probabilities softmax(logits), softened by tau so that it has gradients.

    With hard the result is one-hot, and its gradients are those of the soft one.
    """
    check_tensor("empty_like", logits)
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    gumbels = -tenon.empty_like(logits.detach(), memory_format=tenon.contiguous_format).exponential_().log()
    soft = ((logits + gumbels) / tau).softmax(dim)
    if not hard:
        return soft
    chosen = soft.max(dim, keepdim=True)[1]
    return tenon.zeros_like(logits.detach(), memory_format=tenon.contiguous_format).scatter_(dim, chosen, 1.0) - soft.detach() + soft


# --- Normalization


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """input, divided by its norm with ord p along dim, which is at least eps."""
    length = input.norm(p, dim, keepdim=True)
    if out is None:
        return input / length.clamp_min(eps).expand_as(input)
    return tenon.div(input, length.clamp_min_(eps).expand_as(input), out=out)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """input less its mean, divided by its deviation, over the last dims; then times weight, plus bias."""
    return _nn.layer_norm(input, normalized_shape, weight, bias, eps)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """input, divided by the root of the mean of its squares over the last dims; then times weight."""
    return _nn.rms_norm(input, normalized_shape, weight, eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """input less its mean, divided by its deviation, over each of num_groups groups of channels."""
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    if math.prod([input.size(0) * input.size(1) // num_groups, *input.shape[2:]]) == 1:
        sizes = [input.size(0) * input.size(1) // num_groups, num_groups, *input.shape[2:]]
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {sizes}")
    return _nn.group_norm(input, num_groups, weight, bias, eps)


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """input less the mean of each channel, divided by its deviation: those of the batch in training, otherwise running ones.

    In training the running ones become (1 - momentum) of themselves and momentum of the batch's.
    """
    if training and input.shape[0] * math.prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size torch.Size({list(input.shape)})")
    if training and eps <= 0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if eps < 0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    return tenon.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, True)


def instance_norm(
    input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5
):
    """batch_norm of each element of the batch alone."""
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size torch.Size({list(input.shape)})")
    return tenon.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """input over (k + alpha * the mean of squares over size channels around each) to the power beta."""
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality                          input (got {input.dim()} dimensions)")
    if input.numel() == 0:
        return input
    if input.dim() == 3:
        require("avg_pool2d", input, (*FLOATS, tenon.int64))
    else:
        require("avg_pool3d_out_frame", input, (tenon.float32, tenon.float64, tenon.int64))
    ends = [0, 0] * (input.dim() - 2) + [size // 2, (size - 1) // 2]
    squares = _nn.pad(input.mul(input), ends, "constant", None).unfold(1, size, 1).sum(-1)
    squares = squares / size if input.is_floating_point() else squares // size
    return input / squares.mul(alpha).add(k).pow(beta)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """The rows of weight whose numbers are in input. Those of padding_idx have no gradient; max_norm shortens rows in place."""
    check_tensor("embedding", weight, "weight")
    if padding_idx is not None:
        if not -weight.size(0) <= padding_idx < weight.size(0):
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= weight.size(0)
    if max_norm is not None:
        with tenon.no_grad():
            tenon.embedding_renorm_(weight, input, max_norm, norm_type)
    return tenon.embedding(weight, input, -1 if padding_idx is None else padding_idx, scale_grad_by_freq, sparse)


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
    return str(reduction)  # what is no word is refused by the loss, after its other checks


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
    if not isinstance(reduction, str):
        _nn.gaussian_nll_loss(input, target, var, bool(full), eps, "none")
        raise ValueError(reduction + " is not valid")  # a TypeError, of the sum: PyTorch's, after its other checks
    return _nn.gaussian_nll_loss(input, target, var, bool(full), eps, reduction)


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
    """exp(input) - target * input, or without log_input input - target * log(input + eps)."""
    if size_average is not None or reduce is not None:
        reduction = _reduction(reduction, size_average, reduce)
    if not isinstance(reduction, str):
        raise ValueError(reduction + " is not a valid value for reduction")  # a TypeError, of the sum, as in PyTorch
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


def __getattr__(name):
    from .. import _missing

    _missing.refuse("nn.functional", name)
