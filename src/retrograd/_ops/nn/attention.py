"""Attention: in tiles, or in ordinary ops where weights are dropped or asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence

import retrograd as torch
from retrograd import _C, Tensor
from retrograd._ops.nn.dropout import dropout
from retrograd._overridable import autocast

_ops = _C._ops

# The ways that nn.attention.sdpa_kernel leaves open.
ways = {"tiles": True, "ops": True}


def _check(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, enable_gqa: bool) -> None:
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError(
            f"Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {query.dim()} key.dim: "
            f"{key.dim()} and value.dim: {value.dim()} instead."
        )
    if not query.dtype == key.dtype == value.dtype:
        raise RuntimeError(
            f"Expected query, key, and value to have the same dtype, but got query.dtype: {query.dtype} key.dtype: {key.dtype} and "
            f"value.dtype: {value.dtype} instead."
        )
    if attn_mask is not None:
        if attn_mask.dtype not in (torch.bool, torch.float32, query.dtype):
            raise RuntimeError(
                f"Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: {attn_mask.dtype} and  "
                f"query.dtype: {query.dtype} instead."
            )
        attn_mask.size(-2)  # an IndexError for a mask of one dimension
    if enable_gqa:
        heads = query.size(-3)
        if any(n == 0 or heads % n for n in (key.size(-3), value.size(-3))):
            raise RuntimeError(
                f"Number of heads in key and value must divide the number of heads in query, but got {key.size(-3)} and {value.size(-3)} "
                f"for {heads}"
            )


def _fits(sizes: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether a tensor of these sizes broadcasts to the wanted ones."""
    return len(sizes) <= len(wanted) and all(a in (1, b) for a, b in zip(sizes[::-1], wanted[::-1], strict=False))


def _common(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The sizes that these broadcast to, or None."""
    ndim = max(map(len, shapes))
    aligned = [(1,) * (ndim - len(s)) + tuple(s) for s in shapes]
    sizes = tuple(max(column) if 0 not in column else 0 for column in zip(*aligned, strict=True))
    return sizes if all(_fits(s, sizes) for s in shapes) else None


def _in_tiles(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, is_causal: bool, scale: float, enable_gqa: bool
) -> Tensor | None:
    """None where sizes do not fit: ordinary ops say how."""
    q, k, v = query.shape, key.shape, value.shape
    if q[-1] != k[-1] or k[-2] != v[-2]:
        return None
    lead: Sequence[int] = q[:-2]
    direct = len(q) == len(k) == len(v) == 4 and q[0] == k[0] == v[0] and k[1] == v[1] and (q[1] == k[1] or enable_gqa)
    if not direct:
        if enable_gqa:
            key, value = _repeated(query, key, value)
            k, v = key.shape, value.shape
        found = _common(q[:-2], k[:-2], v[:-2])
        if found is None:
            return None
        lead = found
        batch, heads = math.prod(lead[:-1]), (lead[-1] if lead else 1)
        query, key, value = (t.expand(*lead, *t.shape[-2:]).reshape(batch, heads, *t.shape[-2:]) for t in (query, key, value))
    if attn_mask is not None:
        pairs = (*lead, q[-2], k[-2])
        if not _fits(attn_mask.shape, pairs):
            return None
        if attn_mask.ndim > 4 or (attn_mask.ndim == 4 and len(lead) > 2):
            attn_mask = attn_mask.expand(pairs).reshape(query.size(0), query.size(1), *pairs[-2:])
        elif attn_mask.ndim < 4:
            attn_mask = attn_mask[(None,) * (4 - attn_mask.ndim)]
    out: Tensor = _ops._attention(query, key, value, attn_mask, is_causal, scale)[0]
    return out if direct else out.reshape(*lead, q[-2], v[-1])


def _repeated(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """A head of keys and values for each head of queries."""
    heads = query.size(-3)
    return key.repeat_interleave(heads // key.size(-3), -3), value.repeat_interleave(heads // value.size(-3), -3)


def _in_ops(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, is_causal: bool, scale: float, dropout_p: float) -> Tensor:
    dtype = query.dtype
    if dtype in (torch.float16, torch.bfloat16):  # scores and weights keep their digits until the result is rounded
        query, key, value = query.float(), key.float(), value.float()
    # The root of the scale on either side keeps products of large numbers in range.
    root = math.sqrt(abs(scale))
    scores = (query * math.copysign(root, scale)) @ (key * root).transpose(-2, -1)
    if is_causal:
        attn_mask = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool, device=query.device).tril()
    if attn_mask is None:
        weights = scores.softmax(-1)
    else:
        if attn_mask.dtype == torch.bool:
            scores = scores.masked_fill(~attn_mask, -math.inf)
        else:
            scores = scores + attn_mask.to(scores.dtype)
        alone = (scores == -math.inf).all(-1, keepdim=True)  # rows that may look at nothing give zeros, and pass no gradient on
        weights = scores.masked_fill(alone, 0.0).softmax(-1).masked_fill(alone, 0.0)
    if dropout_p != 0.0:
        weights = dropout(weights, dropout_p)
    return (weights @ value).to(dtype)


@autocast("lower precision")
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
    """softmax(query @ key.mT * scale + mask) @ value.

    The memory it takes grows with the number of queries and keys, forward, backward and in second derivatives. With that of their pairs it
    grows where weights are dropped, and where second derivatives are computed to be differentiated again (`create_graph`).
    """
    if query.ndim == 4 and attn_mask is None and dropout_p == 0.0 and not enable_gqa and ways["tiles"]:
        q, k = query.shape, key.shape
        ordinary = q[3] and (q == k or (q[:2] == k[:2] and q[3:] == k[3:])) and k == value.shape
        if ordinary and query.dtype is key.dtype is value.dtype and query.is_floating_point():
            return _ops._attention(query, key, value, None, is_causal, 1 / math.sqrt(q[3]) if scale is None else scale)[0]
    _check(query, key, value, attn_mask, enable_gqa)
    if scale is None:
        scale = 1 / math.sqrt(query.size(-1)) if query.size(-1) else 1.0
    if not (ways["tiles"] or ways["ops"]):
        raise RuntimeError(
            "No viable backend for scaled_dot_product_attention was found. This is likely due to turning off both the math kernel and the "
            "fused kernels."
        )
    if not 0.0 <= dropout_p <= 1.0:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout_p:g}")
    whole = is_causal and attn_mask is not None
    if dropout_p == 0.0 and ways["tiles"] and query.is_floating_point() and not (whole and query.ndim != 4):
        out = _in_tiles(query, key, value, attn_mask, is_causal, scale, enable_gqa)
        if out is not None:
            return out
    if whole:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if not ways["ops"]:
        raise RuntimeError("No available kernel. Aborting execution.")
    if enable_gqa:
        key, value = _repeated(query, key, value)
    return _in_ops(query, key, value, attn_mask, is_causal, scale, dropout_p)
