"""Losses that demand a margin between the right answer and the others. PyTorch: LossMultiMargin.cpp, LossMultiLabelMargin.cpp."""

import tenon

from .._arguments import check_tensors
from .._dtypes import kind_of, require


def reduced(loss, reduction):
    """A loss of each element as the word says."""
    if reduction == "mean":
        return loss.mean()
    return loss.sum() if reduction == "sum" else loss


def _check_word(reduction):
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")


def _check_margin(margin):
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")


def triplets(anchor, positive, negative, distance, margin, swap, reduction):
    """margin + distance(anchor, positive) - distance(anchor, negative), at least 0."""
    ranks = anchor.dim(), positive.dim(), negative.dim()
    if len(set(ranks)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            "anchor {}D, positive {}D, and negative {}D inputs".format(*ranks)
        )
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = tenon.minimum(far, distance(positive, negative))
    return reduced(tenon.clamp_min(margin + near - far, 0), reduction)


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"):
    """margin + the distance of anchor and positive less that of anchor and negative, at least 0.

    With swap that of positive and negative counts where it is smaller than that of anchor and negative.
    """
    reduction = _old_or(reduction, size_average, reduce)
    _check_word(reduction)
    _check_margin(margin)
    check_tensors("triplet_margin_loss", anchor=anchor, positive=positive, negative=negative)
    return triplets(anchor, positive, negative, lambda a, b: tenon.pairwise_distance(a, b, p, eps), margin, swap, reduction)


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
    """triplet_margin_loss by any distance."""
    _check_word(reduction)
    _check_margin(margin)
    return triplets(anchor, positive, negative, distance_function or tenon.pairwise_distance, margin, swap, reduction)


def _old_or(reduction, size_average, reduce):
    if size_average is None and reduce is None and reduction != "elementwise_mean":
        return reduction
    from .functional import _reduction

    return _reduction(reduction, size_average, reduce)


def _rows(input):
    """Scores as [batch, classes]."""
    if input.dim() > 2 or input.numel() == 0 and (input.dim() != 2 or input.shape[1] == 0):
        raise RuntimeError(f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}")
    return input if input.dim() == 2 else input.reshape(1, -1)


def _check_dtypes(input, target, kernel):
    require(kernel, input, (tenon.float32, tenon.float64))
    if target.dtype != tenon.int64:
        raise RuntimeError(f"expected scalar type Long but found {kind_of(target.dtype)}")


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The mean over the classes but the right one of margin - its score + theirs, at least 0, to the power p."""
    reduction = _old_or(reduction, size_average, reduce)
    _check_word(reduction)
    check_tensors("multi_margin_loss", input=input, target=target)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    rows = _rows(input)
    batch, classes = rows.shape
    if target.dim() > 1 or target.numel() != batch:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). "
            f"Expected target size [{batch}], but got {list(target.shape)}. Input has shape {list(input.shape)}."
        )
    if weight is not None and weight.numel() != classes:
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got {list(weight.shape)}")
    if batch:
        _check_dtypes(input, target, "multi_margin_loss_cpu_kernel")
        if weight is not None and weight.dtype != input.dtype:
            raise RuntimeError(f"expected scalar type {_NAMES[input.dtype]} but found {_NAMES.get(weight.dtype, weight.dtype)}")
        if ((target < 0) | (target >= classes)).any():
            raise RuntimeError("target out of range")
    right = target.reshape(-1, 1)
    excess = (margin - rows.gather(1, right) + rows).relu()
    if p == 2:
        excess = excess * excess
    if weight is not None:
        excess = excess * weight[right]
    loss = excess.scatter(1, right, 0).sum(1) / classes
    return loss.reshape(target.shape) if reduction == "none" else reduced(loss, reduction)


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """The sum over right and wrong classes of 1 - a right one's score + a wrong one's, at least 0, over the number of classes.

    Each row of target begins with the right classes; -1 ends them.
    """
    reduction = _old_or(reduction, size_average, reduce)
    _check_word(reduction)
    check_tensors("multilabel_margin_loss", input=input, target=target)
    rows = _rows(input)
    if target.shape != input.shape and not (input.dim() <= 1 and target.dim() <= 1 and target.numel() == input.numel()):
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}")
    if input.numel():
        _check_dtypes(input, target, "multilabel_margin_loss_forward_out_frame")
        for bad in (target < -1, target >= rows.shape[1]):
            if bad.any():
                raise RuntimeError("argument #2 'target' is out of range")
    labels = target.reshape(rows.shape)
    is_label = (labels >= 0).cumprod(1).bool()
    labels = labels.where(is_label, 0)
    is_right = tenon.zeros(rows.shape, dtype=tenon.int64).scatter_add(1, labels, is_label.long()) > 0
    excess = (1 - rows.gather(1, labels).unsqueeze(2) + rows.unsqueeze(1)).relu()
    loss = excess.masked_fill(~is_label.unsqueeze(2) | is_right.unsqueeze(1), 0).sum((1, 2)) / rows.shape[1]
    return loss.reshape(input.shape[:-1]) if reduction == "none" else reduced(loss, reduction)


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The mean over the classes of -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))."""
    reduction = _old_or(reduction, size_average, reduce)
    log_of = tenon.nn.functional.logsigmoid
    loss = -(target * log_of(input) + (1 - target) * log_of(-input))
    if weight is not None:
        loss = loss * weight
    loss = loss.sum(dim=input.dim() - 1) / input.size(input.dim() - 1)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    return reduced(loss, reduction)
