"""PyTorch's functions of the package itself that nn.functional has with other arguments."""

import tenon

from ._arguments import type_name
from ._tenon import _nn
from .nn import functional
from .nn._margin_losses import triplets

__all__ = """
    binary_cross_entropy_with_logits cosine_embedding_loss group_norm hinge_embedding_loss kl_div layer_norm
    margin_ranking_loss poisson_nll_loss rms_norm triplet_margin_loss
""".split()


def _word(function, reduction):
    """PyTorch's numbers of reductions. A word of nn.functional's is refused: it would count as none."""
    if not isinstance(reduction, int) or isinstance(reduction, bool):
        raise TypeError(f"{function}(): argument 'reduction' must be int, not {type_name(reduction)}")
    return {1: "mean", 2: "sum"}.get(reduction, "none")


# --- Normalization

rms_norm, layer_norm, group_norm = _nn.rms_norm, _nn.layer_norm, _nn.group_norm


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
