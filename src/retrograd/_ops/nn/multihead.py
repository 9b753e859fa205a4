"""Attention of several heads, with the projections before and after it."""

from __future__ import annotations

import math
import warnings

import retrograd as torch
from retrograd import _C, Tensor
from retrograd._ops.nn.attention import scaled_dot_product_attention
from retrograd._ops.nn.dropout import dropout

_ops = _C._ops


def check_mask_dtype(mask: Tensor | None, name: str) -> None:
    if mask is not None and mask.dtype != torch.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported, got {mask.dtype}")


def warn_of_kinds(mask: Tensor | None, name: str, other: Tensor | None, other_name: str) -> None:
    """Two masks ought to be of one dtype."""
    if mask is not None and other is not None and mask.dtype != other.dtype:
        _warn_of_kinds(name, other_name, 4)


def _warn_of_kinds(name: str, other_name: str, stacklevel: int) -> None:
    words = f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both instead."
    warnings.warn(words, UserWarning, stacklevel=stacklevel)


def added_mask(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """A mask as numbers to be added to scores, -inf for True, which says that a score does not count."""
    return mask if mask.dtype != torch.bool else torch.zeros_like(mask, dtype=dtype).masked_fill_(mask, -math.inf)


def _check_shapes(
    query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None, attn_mask: Tensor | None, num_heads: int
) -> bool:
    """Whether there is a batch."""
    if query.ndim not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {query.ndim}-D query tensor")
    batched = query.ndim == 3
    kind = "batched (3-D)" if batched else "unbatched (2-D)"
    if not key.ndim == value.ndim == query.ndim:
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {query.ndim}-D but found {key.ndim}-D and {value.ndim}-D tensors "
            "respectively"
        )
    if key_padding_mask is not None and key_padding_mask.ndim != query.ndim - 1:
        raise AssertionError(
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {query.ndim - 1}-D but found {key_padding_mask.ndim}-D "
            "tensor instead"
        )
    if attn_mask is not None:
        if attn_mask.ndim not in (2, 3):
            raise AssertionError(
                f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.ndim}-D tensor instead"
            )
        if not batched and attn_mask.ndim == 3:
            expected = (num_heads, query.shape[0], key.shape[0])
            if tuple(attn_mask.shape) != expected:
                raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")
    return batched


def _expect(right: bool, words: str) -> None:
    if not right:
        raise AssertionError(words)


def _heads(rows: Tensor, num_heads: int) -> Tensor:
    """[length, batch, heads * width] as [batch, heads, length, width]."""
    length, batch, width = rows.shape
    return rows.view(length, batch, num_heads, width // num_heads).permute(1, 2, 0, 3)


def _projected(query: Tensor, key: Tensor, value: Tensor, weight: Tensor, bias: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """The three projections whose weights lie in one matrix: one product where they are of the same thing."""
    width = query.size(-1)
    if key is value:
        if query is key:
            q, k, v = _ops.linear(query, weight, bias).split(width, -1)
            return q, k, v
        parts = (width, 2 * width)
        w_q, w_kv = weight.split(parts)
        b_q, b_kv = bias.split(parts) if bias is not None else (None, None)
        k, v = _ops.linear(key, w_kv, b_kv).split(width, -1)
        return _ops.linear(query, w_q, b_q), k, v
    biases = bias.split(width) if bias is not None else (None,) * 3
    q, k, v = (_ops.linear(x, w, b) for x, w, b in zip((query, key, value), weight.split(width), biases, strict=True))
    return q, k, v


def _mask_of_pairs(attn_mask: Tensor | None, sizes: tuple[int, int, int, int]) -> Tensor | None:
    """The mask as [batch or 1, heads or 1, queries, keys]."""
    if attn_mask is None:
        return None
    batch, heads, queries, keys = sizes
    if attn_mask.ndim == 2:
        if tuple(attn_mask.shape) != (queries, keys):
            raise RuntimeError(f"The shape of the 2D attn_mask is {attn_mask.shape}, but should be {(queries, keys)}.")
        return attn_mask[None, None]
    if attn_mask.ndim == 3:
        expected = (batch * heads, queries, keys)
        if tuple(attn_mask.shape) != expected:
            raise RuntimeError(f"The shape of the 3D attn_mask is {attn_mask.shape}, but should be {expected}.")
        return attn_mask.view(batch, heads, queries, keys)
    raise RuntimeError(f"attn_mask's dimension {attn_mask.ndim} is not supported")


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Projects query, key and value [length, batch, width] to heads, attends, and projects what comes out.

    Args:
        embed_dim_to_check: the width that query must have.
        in_proj_weight: the three projections, one below the other; with use_separate_proj_weight they come one by one.
        bias_k, bias_v: a key and a value more, for every sequence.
        add_zero_attn: another key and value of zeros.
        key_padding_mask: [batch, keys]; True, or -inf, where a key does not count.
        attn_mask: [queries, keys] or [batch * heads, queries, keys]; True where a pair does not count, or numbers added to the scores.
        need_weights: whether the weights are wanted too, averaged over heads with average_attn_weights.
        static_k, static_v: [batch * heads, keys, width] to take in place of projected keys and values.
        is_causal: that attn_mask is the causal one, a hint.
    """
    if not _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads):
        same_key, same_value = key is query, value is key
        query = query.unsqueeze(1)
        key = query if same_key else key.unsqueeze(1)
        value = key if same_value else value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
        out, weights = multi_head_attention_forward(
            query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p,
            out_proj_weight, out_proj_bias, training, key_padding_mask, need_weights, attn_mask, use_separate_proj_weight, q_proj_weight,
            k_proj_weight, v_proj_weight, static_k, static_v, average_attn_weights, is_causal,
        )  # fmt: skip
        return out.squeeze(1), None if weights is None else weights.squeeze(0)

    length, batch, width = query.shape
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    check_mask_dtype(key_padding_mask, "key_padding_mask")
    check_mask_dtype(attn_mask, "attn_mask")
    only_hint = is_causal and key_padding_mask is None and not need_weights
    warn_of_kinds(key_padding_mask, "key_padding_mask", attn_mask, "attn_mask")
    _expect(width == embed_dim_to_check, f"was expecting embedding dimension of {embed_dim_to_check}, but got {width}")
    _expect(width // num_heads * num_heads == width, f"embed_dim {width} not divisible by num_heads {num_heads}")
    if use_separate_proj_weight:
        _expect(key.shape[:2] == value.shape[:2], f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
        biases = in_proj_bias.chunk(3) if in_proj_bias is not None else (None,) * 3
        projected = []
        for name, x, weight, bias in zip("qkv", (query, key, value), (q_proj_weight, k_proj_weight, v_proj_weight), biases, strict=True):
            if weight is None:
                raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
            sizes = (width, x.size(-1))
            word = {"q": "query", "k": "key", "v": "value"}[name]
            _expect(tuple(weight.shape) == sizes, f"expecting {word} weights shape of {sizes}, but got {weight.shape}")
            projected.append(_ops.linear(x, weight, bias))
        q, k, v = projected
    else:
        _expect(key.shape == value.shape, f"key shape {key.shape} does not match value shape {value.shape}")
        if in_proj_weight is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        q, k, v = _projected(query, key, value, in_proj_weight, in_proj_bias)

    added = 0  # keys beside those of the sequence, which no mask knows
    if (bias_k is None) != (bias_v is None):
        _expect(bias_k is None, "bias_k is not None but bias_v is None")
        raise AssertionError("bias_v is not None but bias_k is None")
    if bias_k is not None and bias_v is not None:
        _expect(static_k is None, "bias cannot be added to static key.")
        _expect(static_v is None, "bias cannot be added to static value.")
        k, v = torch.cat([k, bias_k.expand(1, batch, -1)]), torch.cat([v, bias_v.expand(1, batch, -1)])
        added += 1
    q = _heads(q, num_heads)
    k = _heads_or_static(k, static_k, "static_k", batch, num_heads, width // num_heads)
    v = _heads_or_static(v, static_v, "static_v", batch, num_heads, width // num_heads)
    if add_zero_attn:
        zeros = k.new_zeros((batch, num_heads, 1, width // num_heads))
        k, v = torch.cat([k, zeros], 2), torch.cat([v, zeros], 2)
        added += 1
    keys = k.size(2)

    mask = None if only_hint else _mask_of_pairs(attn_mask, (batch, num_heads, length, keys - added))
    if key_padding_mask is not None:
        for d, expected in enumerate((batch, keys - added)):
            _expect(
                key_padding_mask.size(d) == expected,
                f"Expected key_padded_mask.shape[{d}] to be {expected}, but got {key_padding_mask.size(d)}",
            )
        mask = _joined(mask, key_padding_mask[:, None, None], query.dtype)
    if added and mask is not None:
        mask = _ops.pad(mask, (0, added), value=False if mask.dtype == torch.bool else 0.0)
    if not training:
        dropout_p = 0.0

    found = None
    if need_weights:
        scores = (q * math.sqrt(1.0 / q.size(-1))) @ k.transpose(-2, -1)
        if mask is not None:
            scores = scores.masked_fill(mask, -math.inf) if mask.dtype == torch.bool else scores + mask
        found = scores.softmax(-1)
        if dropout_p > 0.0:
            found = dropout(found, dropout_p)
        out = found @ v
        if average_attn_weights:
            found = found.mean(1)
    else:
        if mask is not None and mask.dtype == torch.bool:
            mask = ~mask  # there, True is what counts
        out = scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal and mask is None)
    out = out.permute(2, 0, 1, 3).reshape(length * batch, width)
    return _ops.linear(out, out_proj_weight, out_proj_bias).view(length, batch, out_proj_weight.size(0)), found


def _joined(mask: Tensor | None, other: Tensor, dtype: torch.dtype) -> Tensor:
    """Two masks as one, of bools if both are."""
    if mask is None:
        return other
    if mask.dtype == other.dtype == torch.bool:
        return mask | other
    return added_mask(mask, dtype) + added_mask(other, dtype)


def _heads_or_static(rows: Tensor, static: Tensor | None, name: str, batch: int, num_heads: int, width: int) -> Tensor:
    if static is None:
        length, got = rows.shape[:2]
        if got != batch:
            raise RuntimeError(f"shape '[{length}, {batch * num_heads}, {width}]' is invalid for input of size {rows.numel()}")
        return _heads(rows, num_heads)
    _expect(static.size(0) == batch * num_heads, f"expecting {name}.size(0) of {batch * num_heads}, but got {static.size(0)}")
    _expect(static.size(2) == width, f"expecting {name}.size(2) of {width}, but got {static.size(2)}")
    return static.view(batch, num_heads, *static.shape[1:])


# -- the parts of it that programs import to write an attention of their own, under the names of nn.functional --

mha_shape_check, in_projection_packed = _check_shapes, _projected


def in_projection(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    b_q: Tensor | None = None,
    b_k: Tensor | None = None,
    b_v: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The three projections, by weights of their own."""
    return _ops.linear(q, w_q, b_q), _ops.linear(k, w_k, b_k), _ops.linear(v, w_v, b_v)


def none_or_dtype(input: Tensor | None) -> torch.dtype | None:
    return None if input is None else input.dtype


def canonical_mask(
    mask: Tensor | None,
    mask_name: str,
    other_type: torch.dtype | None,
    other_name: str,
    target_type: torch.dtype,
    check_other: bool = True,
) -> Tensor | None:
    """A mask as numbers to be added to scores."""
    check_mask_dtype(mask, mask_name)
    if mask is None:
        return None
    if check_other and other_type is not None and mask.dtype != other_type:
        _warn_of_kinds(mask_name, other_name, 3)
    return added_mask(mask, target_type)
