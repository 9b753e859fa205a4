"""Sums, products and functions of sparse tensors, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import retrograd as torch
from retrograd import Tensor
from retrograd._ops.sparse.construct import converted
from retrograd._ops.sparse.history import (
    as_coo,
    coalesced,
    keys_of,
    places,
    to_dense,
    values_at,
    values_of,
    with_parts,
    with_values,
)
from retrograd._ops.sparse.tensor import COO, WORDS, Parts, is_sparse, refuse

# Functions of one tensor that take 0 to 0. A place that is there several times has one value, their sum.
ZERO_TO_ZERO = (
    "abs", "absolute", "angle", "arcsin", "arcsinh", "arctan", "arctanh", "asin", "asinh", "atan", "atanh", "ceil", "deg2rad", "erf", "erfinv",
    "expm1", "fix", "floor", "frac", "isinf", "isnan", "isneginf", "isposinf", "log1p", "nan_to_num", "rad2deg", "relu", "round", "sgn", "sign",
    "signbit", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc",
)  # fmt: skip
# And those that take sums to sums.
ADDITIVE = ("neg", "negative", "positive", "conj", "conj_physical", "resolve_conj", "resolve_neg", "real", "imag")


def function_of(name: str, additive: bool) -> Callable[..., Any]:
    op = getattr(torch, name)

    def function(input: Any, **options: Any) -> Any:
        x = input if additive or input.parts.layout is not COO else coalesced(input)
        if name == "positive":
            return input
        return with_values(x, op(values_of(x), **options))

    return function


def refuse_shape(a: Any, b: Any) -> None:
    if a.shape != b.shape:
        raise RuntimeError(f"add: expected sizes of 'self' and 'other' to match, but {list(a.shape)} != {list(b.shape)}")


# -- sums -----------------------------------------------------------------------------------------


def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """input + alpha * other."""
    if is_sparse(input) and is_sparse(other):
        return _add_sparse(input, other, alpha)
    if is_sparse(input):
        if input.parts.layout is COO or not isinstance(other, Tensor):
            raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
        return _add_to_dense(other * alpha if alpha != 1 else other, input, 1)
    return _add_to_dense(input, other, alpha)


def _add_to_dense(dense: Any, x: Any, alpha: Any) -> Tensor:
    shape = list(dense.shape) if isinstance(dense, Tensor) else []
    if shape != list(x.shape) or not isinstance(dense, Tensor):
        raise RuntimeError(
            f"add: expected 'self' and 'other' to have same size, but self has size {shape} while other has size {list(x.shape)} (FYI: "
            "dense-sparse addition does not currently support broadcasting)"
        )
    dtype = torch.result_type(dense, x.parts.values)
    if x.parts.blocks is not None:
        return dense + alpha * to_dense(x)
    values = values_of(x).to(dtype)
    values = values if alpha == 1 else values * alpha
    if not x.parts.sparse_dim:
        return dense.to(dtype) + values.sum(0)
    return dense.to(dtype).index_put(tuple(places(x)), values, accumulate=True)


def _add_sparse(a: Any, b: Any, alpha: Any) -> Any:
    refuse_shape(a, b)
    if (a.parts.layout is COO) != (b.parts.layout is COO):
        raise RuntimeError(f"add: expected both tensors to be of one layout, but got {WORDS[a.layout]} and {WORDS[b.layout]}")
    if a.parts.layout is not COO:
        return converted(_add_sparse(as_coo(a), as_coo(b), alpha), a.parts.layout, a.parts.blocks)
    if a.parts.sparse_dim != b.parts.sparse_dim:
        raise RuntimeError(
            f"add: expected 'self' and 'other' to have same number of sparse dimensions, but {a.parts.sparse_dim} != {b.parts.sparse_dim}"
        )
    dtype = torch.result_type(a.parts.values, b.parts.values)
    left, right = values_of(a).to(dtype), values_of(b).to(dtype)
    right = right if alpha == 1 else right * alpha
    if a.parts.plain is b.parts.plain:
        return with_values(a, left + right)
    both = with_parts(a.shape, Parts(COO, None, torch.cat((a.parts.plain, b.parts.plain), 1), torch.cat((left, right))))
    # Sums of many that are not coalesced, as of momentum, stay below the number of places.
    room = math.prod(a.shape[: a.parts.sparse_dim])
    return coalesced(both) if (a.parts.coalesced and b.parts.coalesced) or both.parts.values.shape[0] > room else both


def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """input - alpha * other."""
    return add(input, other, alpha=-alpha)


def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """other - alpha * input."""
    return add(other, input, alpha=-alpha)


# -- products -------------------------------------------------------------------------------------


def _is_number(x: Any) -> bool:
    return not isinstance(x, Tensor) or (not is_sparse(x) and x.dim() == 0)


def mul(input: Any, other: Any) -> Any:
    """The products of elements; sparse."""
    if not is_sparse(input):
        input, other = other, input
    if _is_number(other):
        return with_values(input, values_of(input) * other)
    if is_sparse(other):
        return _mul_sparse(input, other)
    try:
        shape = torch.broadcast_shapes(input.shape, other.shape)
    except RuntimeError:
        shape = None
    if shape != input.shape:
        raise RuntimeError(
            f"mul(sparse, dense): a dense tensor of size {list(other.shape)} cannot be broadcast to the sparse one of size {list(input.shape)}"
        )
    return with_values(input, values_of(input) * values_at(other.expand(tuple(shape)), input))


def _mul_sparse(a: Any, b: Any) -> Any:
    if a.parts.sparse_dim != b.parts.sparse_dim or a.shape != b.shape:
        raise RuntimeError(
            "sparse_binary_op_intersection_cpu(): expects sparse inputs with equal dimensionality, number of sparse dimensions, and shape of "
            "sparse dimensions"
        )
    if a.parts.layout is not COO:
        return converted(_mul_sparse(as_coo(a), as_coo(b)), a.parts.layout, a.parts.blocks)
    a, b = coalesced(a), coalesced(as_coo(b))
    if a.parts.plain is b.parts.plain:
        return with_values(a, values_of(a) * values_of(b))
    mine, others = keys_of(a.parts.plain, a.shape), keys_of(b.parts.plain, b.shape)
    if not mine.numel() or not others.numel():
        kept, at = mine[:0], others[:0]
    else:
        found = torch.searchsorted(others, mine).clamp(max=others.numel() - 1)
        kept = (others[found] == mine).nonzero().reshape(-1)
        at = found[kept]
    return with_parts(a.shape, Parts(COO, None, a.parts.plain[:, kept], values_of(a)[kept] * values_of(b)[at], True))


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """input / other, for a number or a tensor without dimensions."""
    if not is_sparse(input) or not _is_number(other):
        shape = list(other.shape)
        raise RuntimeError(f"Sparse division requires a scalar or zero-dim dense tensor divisor (got shape {shape} for divisor)")
    x = input if rounding_mode is None or input.parts.layout is not COO else coalesced(input)
    return with_values(x, torch.div(values_of(x), other, rounding_mode=rounding_mode))


def floor_divide(input: Any, other: Any) -> Any:
    """The quotients, rounded down."""
    return div(input, other, rounding_mode="floor")


def pow(input: Any, exponent: Any) -> Any:
    """Powers of the elements; the exponent is a number."""
    if not is_sparse(input) or isinstance(exponent, Tensor):
        refuse("pow", input if is_sparse(input) else exponent)
    if exponent == 0:
        raise RuntimeError("pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense")
    x = input if input.parts.layout is not COO else coalesced(input)
    return with_values(x, values_of(x) ** exponent)


# -- sums over all --------------------------------------------------------------------------------


def any(input: Any) -> Tensor:
    """Whether an element is not zero."""
    if input.parts.layout is not COO:
        refuse("any", input)
    return values_of(coalesced(input)).any()


def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """The norm of all elements."""
    if input.parts.layout is not COO:
        refuse("norm", input)
    dims = () if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if dims and sorted(d % input.dim() for d in dims) != list(range(input.dim())):
        raise RuntimeError(
            "norm_sparse currently only supports full reductions, so 'dim' must either be empty or contain all dimensions of the input"
        )
    result = values_of(coalesced(input)).reshape(-1).norm(2 if p == "fro" else p)
    result = result if dtype is None else result.to(dtype)
    return result.reshape((1,) * input.dim()) if keepdim else result
