"""Attention in tiles: what scaled_dot_product_attention is made of."""

from __future__ import annotations

from optable import native, op
from optable.facts import LOWER_PRECISION, by
from optable.samples import B, E, S, T

_QKV = (T(2, 2, 3, 4), T(2, 2, 5, 4), T(2, 2, 5, 3))
_SHARED = (T(2, 4, 3, 4), T(2, 2, 5, 4), T(2, 2, 5, 4))
# A query may not be left without a key where a derivative is tested numerically: its logsumexp is -inf.
_SUMS = T(2, 2, 3, low=3, high=4)
_BOOLS = B(2, 1, 3, 5, values=[True, False, True, True, False] * 6)

op(
    "_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask, bool is_causal, float scale) -> (Tensor output, Tensor logsumexp)",
    variants="function internal",
    kernel=native(),
    autocast=LOWER_PRECISION,
    grad={
        "query, key, value, attn_mask": "attention_grad(grads[0], grads[1], {query, key, value, attn_mask, is_causal, scale, output, "
        "logsumexp}, needs_query, needs_key, needs_value, needs_attn_mask)"
    },
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    home="",
    batching=by("attention"),
    doc="softmax(query @ key.mT * scale + attn_mask) @ value on [batch, heads, rows, width], and the logarithms of the sums in the softmax.",
    samples=[
        S(*_QKV, None, False, 0.5),
        S(*_QKV, None, True, 0.5),
        S(*_QKV, _BOOLS, False, 0.5),
        S(*_QKV, T(1, 2, 3, 5), False, -0.5),
        S(*_SHARED, None, True, 0.7),
        S(*_SHARED, T(2, 4, 1, 5), False, 0.7),
        S(T(1, 1, 4, 2), T(1, 1, 3, 2), T(1, 1, 3, 2), None, True, 1.0),
        S(T(2, 2, 0, 4), T(2, 2, 5, 4), T(2, 2, 5, 4), None, False, 0.5),
        S(*(T(2, 2, rows, 4, grad=False) for rows in (3, 0, 0)), None, False, 0.5),
    ],
    errors=(
        E(
            S(T(3, 4), T(5, 4), T(5, 4), None, False, 0.5),
            RuntimeError,
            r"_attention: expected \[batch, heads, rows, width\], got \[3, 4\]",
        ),
        E(S(T(1, 1, 3, 4), T(1, 1, 5, 4), T(1, 1, 6, 4), None, False, 0.5), RuntimeError, "_attention: query, key and value do not fit"),
        E(
            S(T(1, 3, 3, 4), T(1, 2, 5, 4), T(1, 2, 5, 4), None, False, 0.5),
            RuntimeError,
            "2 heads of keys do not divide 3 heads of queries",
        ),
        E(
            S(T(1, 1, 3, 4), T(1, 1, 5, 4), T(1, 1, 5, 4), T(1, 1, 3, 4), False, 0.5),
            RuntimeError,
            r"a mask of \[1, 1, 3, 4\] does not fit",
        ),
    ),
    test={"compat": False},  # PyTorch's has another order of arguments
)
op(
    "_attention_backward(Tensor grad, Tensor? grad_logsumexp, Tensor query, Tensor key, Tensor value, Tensor? attn_mask, bool is_causal, float "
    "scale, Tensor output, Tensor logsumexp) -> (Tensor grad_query, Tensor grad_key, Tensor grad_value)",
    variants="function internal",
    kernel=native(),
    grad={
        "grad, grad_logsumexp, query, key, value, attn_mask, output, logsumexp": "attention_backward_grad(grads[0], grads[1], grads[2], grad, "
        "grad_logsumexp, {query, key, value, attn_mask, is_causal, scale, output, logsumexp}, needs_attn_mask)"
    },
    home="",
    batching=by("attention"),
    doc="The gradients of attention. What it gave is taken for variables of their own.",
    samples=[
        S(T(2, 2, 3, 4), None, *(T(2, 2, 3, 4) for _ in range(3)), None, True, 0.5, T(2, 2, 3, 4), _SUMS),
        S(T(2, 2, 3, 3), T(2, 2, 3), *_QKV, _BOOLS, False, 0.5, T(2, 2, 3, 3), _SUMS),
        S(T(2, 4, 3, 4), T(2, 4, 3), *_SHARED, T(2, 4, 1, 5), False, 0.7, T(2, 4, 3, 4), T(2, 4, 3, low=3, high=4)),
        S(T(2, 2, 3, 3), None, *_QKV, T(1, 2, 3, 5), False, 0.5, T(2, 2, 3, 3), _SUMS),
    ],
    test={"compat": False},  # PyTorch's has another order of arguments
)
