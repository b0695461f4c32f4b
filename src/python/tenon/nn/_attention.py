"""Attention. PyTorch: native/transformers/attention.cpp, sdp_utils_cpp.cpp."""

import tenon

from .._arguments import check_bool, check_tensors
from .._dtypes import FLOATS, kind_of, word_of
from ._dropout import dropout

_PRODUCT = "scaled_dot_product_attention"


def _check(query, key, value, attn_mask):
    check_tensors(_PRODUCT, query=query, key=key, value=value)
    words = [word_of(each.dtype) for each in (query, key, value)]
    if len(set(words)) > 1:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: {} key.dtype: {} and value.dtype: {} instead.".format(*words)
        )
    ranks = query.dim(), key.dim(), value.dim()
    if min(ranks) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {} key.dim: {} and value.dim: {} instead.".format(*ranks)
        )
    if attn_mask is not None:
        check_tensors(_PRODUCT, query=query, key=key, value=value, attn_mask=attn_mask)
        if attn_mask.dtype not in (tenon.bool, tenon.float32, query.dtype):
            raise RuntimeError(
                f"Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: {word_of(attn_mask.dtype)} and  "
                f"query.dtype: {words[0]} instead."
            )


def _repeated(query, key, value):
    """key and value with as many heads as query."""
    heads, of_key, of_value = (each.size(-3) for each in (query, key, value))
    if not heads == of_key == of_value and (of_key == 0 or of_value == 0 or heads % of_key or heads % of_value):
        raise RuntimeError("Number of heads in key and value must divide the number of heads in ")
    return (each.repeat_interleave(heads // each.size(-3), -3) if heads else each for each in (key, value))


def _has_one_kernel(query, key, value, attn_mask, dropout_p, enable_gqa):
    """Whether PyTorch computes this call in one kernel: its result is laid out like query, and is_causal goes with a mask."""
    all_of = query, key, value
    if any(each.dim() != 4 or each.stride(-1) != 1 or each.size(2) == 0 for each in all_of) or dropout_p > 0:
        return False
    if query.dtype not in FLOATS or len({each.size(3) for each in all_of}) > 1 or len({each.size(0) for each in all_of}) > 1:
        return False
    if key.size(1) != value.size(1) or (query.size(1) != key.size(1) and not enable_gqa):
        return False
    if attn_mask is None:
        return True
    rows, columns = attn_mask.size(-2), attn_mask.size(-1)
    fits = rows in (1, query.size(2)) and columns in (1, key.size(2))
    if attn_mask.dim() == 4:
        fits = fits and attn_mask.size(0) in (1, query.size(0)) and attn_mask.size(1) in (1, query.size(1))
    return fits and attn_mask.dim() in (2, 4) and not attn_mask.requires_grad


def _laid_out_like(result, other):
    """result with the order of its dims in memory that empty_like(other) has."""
    strides = tenon.empty_like(other.detach(), device="meta").stride()
    order = sorted(range(result.dim()), key=lambda dim: -strides[dim])
    return result.permute(order).contiguous().permute([order.index(dim) for dim in range(result.dim())])


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    """softmax(query @ key.mT * scale) @ value, where attn_mask is true, or with attn_mask added to the products."""
    _check(query, key, value, attn_mask)
    check_bool(_PRODUCT, is_causal, "is_causal", 6)
    if not 0 <= dropout_p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout_p}")
    has_one_kernel = _has_one_kernel(query, key, value, attn_mask, dropout_p, enable_gqa)
    if attn_mask is not None and is_causal and not has_one_kernel:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if query.dtype == tenon.bool:
        raise RuntimeError(f"expected scalar type Float but found {kind_of(query.dtype)}")
    like = query
    if enable_gqa:
        key, value = _repeated(query, key, value)
    if scale is None:
        scale = max(1, query.size(-1)) ** -0.5
    if query.dtype in (tenon.float16, tenon.bfloat16):  # rounded once
        query, key, value = query.float(), key.float(), value.float()
    products = query @ key.mT * scale
    result = (dropout(_shares(products, attn_mask, is_causal), dropout_p) @ value).to(like.dtype)
    return _laid_out_like(result, like) if has_one_kernel else result


def _shares(products, attn_mask, is_causal):
    """How much each query takes of each value."""
    if is_causal:
        past = tenon.ones(products.shape[-2:], dtype=tenon.bool, device=products.device).tril()
        attn_mask = past if attn_mask is None else _both(attn_mask, past)
    if attn_mask is None:
        return products.softmax(-1)
    if attn_mask.dtype != tenon.bool:
        return products.add_(attn_mask).softmax(-1)
    # A query that may look at nothing gets zeros.
    return tenon.where(attn_mask.any(-1, keepdim=True), products.masked_fill(~attn_mask, float("-inf")).softmax(-1), 0)


def _both(attn_mask, past):
    return attn_mask & past if attn_mask.dtype == tenon.bool else attn_mask.masked_fill(~past, float("-inf"))
