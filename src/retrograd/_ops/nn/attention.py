"""Attention."""

from __future__ import annotations

import math

import retrograd as torch
from retrograd import Tensor
from retrograd._ops.nn.dropout import dropout


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(query @ key.mT * scale + mask) @ value."""
    if min(query.dim(), key.dim(), value.dim()) < 2:
        raise RuntimeError(
            f"Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {query.dim()} key.dim: "
            f"{key.dim()} and value.dim: {value.dim()} instead."
        )
    if not query.dtype == key.dtype == value.dtype:
        raise RuntimeError(
            f"Expected query, key, and value to have the same dtype, but got query.dtype: {query.dtype} key.dtype: {key.dtype} and "
            f"value.dtype: {value.dtype} instead."
        )
    if is_causal and attn_mask is not None:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if attn_mask is not None and attn_mask.dtype not in (torch.bool, torch.float32, query.dtype):
        raise RuntimeError(
            f"Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: {attn_mask.dtype} and  "
            f"query.dtype: {query.dtype} instead."
        )
    if enable_gqa:
        key = key.repeat_interleave(query.size(-3) // key.size(-3), -3)
        value = value.repeat_interleave(query.size(-3) // value.size(-3), -3)
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    dtype = query.dtype
    if dtype in (torch.float16, torch.bfloat16):  # scores and weights keep their digits until the result is rounded
        query, key, value = query.float(), key.float(), value.float()
    # The root of the scale on either side keeps products of 16-bit floats in range.
    root = math.sqrt(abs(scale))
    scores = (query * math.copysign(root, scale)) @ (key * root).transpose(-2, -1)
    if is_causal:
        attn_mask = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool, device=query.device).tril()
    if attn_mask is not None:
        if attn_mask.dtype == torch.bool:
            dead = ~attn_mask.any(-1, keepdim=True)  # rows that may look at nothing give zeros
            weights = scores.masked_fill(~attn_mask, -math.inf).softmax(-1).masked_fill(dead, 0.0)
        else:
            weights = (scores + attn_mask).softmax(-1).to(scores.dtype)
    else:
        weights = scores.softmax(-1)
    if dropout_p > 0.0:
        weights = dropout(weights, dropout_p)
    return (weights @ value).to(dtype)
