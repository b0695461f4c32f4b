"""PyTorch's functions of the package itself that nn.functional has with other arguments."""

import tenon

from ._arguments import check_bool, type_name
from ._tenon import _nn
from .nn import functional
from .nn._dropout import drop
from .nn._margin_losses import triplets

__all__ = """
    alpha_dropout alpha_dropout_ batch_norm binary_cross_entropy_with_logits cosine_embedding_loss dropout dropout_ embedding
    feature_alpha_dropout feature_alpha_dropout_ feature_dropout feature_dropout_ group_norm hinge_embedding_loss
    instance_norm kl_div layer_norm margin_ranking_loss poisson_nll_loss rms_norm triplet_margin_loss
""".split()


def _word(function, reduction):
    """PyTorch's numbers of reductions. A word of nn.functional's is refused: it would count as none."""
    if not isinstance(reduction, int) or isinstance(reduction, bool):
        raise TypeError(f"{function}(): argument 'reduction' must be int, not {type_name(reduction)}")
    return {1: "mean", 2: "sum"}.get(reduction, "none")


# --- Normalization

rms_norm, layer_norm, group_norm = _nn.rms_norm, _nn.layer_norm, _nn.group_norm


def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
    """nn.functional.batch_norm of any eps, also of one value a channel."""
    return functional._batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled):
    """nn.functional.instance_norm."""
    return functional.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """The rows of weight whose numbers are in indices. Those of padding_idx have no gradient; -1 means no row."""
    return functional.embedding(indices, weight, None if padding_idx < 0 else padding_idx, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)


# --- Dropout


def _check(function, p, train):
    check_bool(function, train, "train", 3)
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")


def dropout(input, p, train):
    """nn.functional.dropout."""
    _check("dropout", p, train)
    return drop(input, p, train, False)


def dropout_(input, p, train):
    """dropout in place."""
    _check("dropout_", p, train)
    return drop(input, p, train, True)


def alpha_dropout(input, p, train):
    """nn.functional.alpha_dropout."""
    _check("alpha_dropout", p, train)
    return drop(input, p, train, False, alpha=True)


def alpha_dropout_(input, p, train):
    """alpha_dropout in place."""
    _check("alpha_dropout_", p, train)
    return drop(input, p, train, True, alpha=True)


def feature_dropout(input, p, train):
    """dropout of whole channels."""
    _check("feature_dropout", p, train)
    return drop(input, p, train, False, by_channel=True)


def feature_dropout_(input, p, train):
    """feature_dropout in place."""
    _check("feature_dropout_", p, train)
    return drop(input, p, train, True, by_channel=True)


def feature_alpha_dropout(input, p, train):
    """alpha_dropout of whole channels."""
    _check("feature_alpha_dropout", p, train)
    return drop(input, p, train, False, by_channel=True, alpha=True)


def feature_alpha_dropout_(input, p, train):
    """feature_alpha_dropout in place."""
    _check("feature_alpha_dropout_", p, train)
    return drop(input, p, train, True, by_channel=True, alpha=True)


# --- Losses. `reduction` is 0 (none, the default as in PyTorch), 1 (mean) or 2 (sum).


def binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, reduction=0):
    """nn.functional.binary_cross_entropy_with_logits."""
    return functional.binary_cross_entropy_with_logits(input, target, weight, reduction=_word("binary_cross_entropy_with_logits", reduction), pos_weight=pos_weight)


def kl_div(input, target, reduction=0, *, log_target=False):
    """nn.functional.kl_div."""
    return functional._nn.kl_div(input, target, _word("kl_div", reduction), log_target=log_target)


def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=0):
    """nn.functional.cosine_embedding_loss."""
    return functional.cosine_embedding_loss(input1, input2, target, margin, reduction=_word("cosine_embedding_loss", reduction))


def hinge_embedding_loss(input, target, margin=1.0, reduction=0):
    """nn.functional.hinge_embedding_loss."""
    return functional.hinge_embedding_loss(input, target, margin, reduction=_word("hinge_embedding_loss", reduction))


def margin_ranking_loss(input1, input2, target, margin=0.0, reduction=0):
    """nn.functional.margin_ranking_loss."""
    return functional.margin_ranking_loss(input1, input2, target, margin, reduction=_word("margin_ranking_loss", reduction))


def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    """nn.functional.poisson_nll_loss."""
    return functional.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_word("poisson_nll_loss", reduction))


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction=0):
    """nn.functional.triplet_margin_loss."""
    return triplets(anchor, positive, negative, lambda a, b: tenon.pairwise_distance(a, b, p, eps), margin, swap, _word("triplet_margin_loss", reduction))
