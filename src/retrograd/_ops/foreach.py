"""torch._foreach_*: an op on each tensor of a list. They record, promote and refuse as that op does; in-place forms return the list."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import retrograd as torch
from retrograd import _C
from retrograd._C import Tensor

Tensors = Sequence[Tensor]
Out = tuple[Tensor, ...]
In = list[Tensor]
_ops = _C._ops


def _tensors(name: str, given: Any, argument: str = "self", position: int = 1) -> Tensors:
    if not isinstance(given, (list, tuple)):
        kind = type(given).__name__
        raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be tuple of Tensors, not {kind}")
    for i, tensor in enumerate(given):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument {position - 1}, but got {type(tensor).__name__}")
    if not given:
        raise RuntimeError("Tensor list must have at least one tensor.")
    return given


def _beside(name: str, first: Tensors, given: Any, argument: str, position: int) -> Tensors:
    """A second list of tensors, of the same length."""
    found = _tensors(name, given, argument, position)
    if len(found) != len(first):
        raise RuntimeError(f"Tensor lists must have the same number of tensors, got {len(first)} and {len(found)}")
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex)) or (isinstance(value, Tensor) and value.dim() == 0)


def _operands(name: str, first: Tensors, given: Any, argument: str = "other", position: int = 2) -> Sequence[Any]:
    """One operand for each tensor, from a number, a 0-d tensor, a list of numbers or a list of tensors."""
    if _is_number(given):
        return [given] * len(first)
    if isinstance(given, Tensor):
        raise RuntimeError(f"scalar tensor expected to be 0 dim but it has {given.dim()} dimensions and {given.numel()} elements.")
    if isinstance(given, (list, tuple)) and not any(isinstance(value, Tensor) for value in given):
        if not all(_is_number(value) for value in given):
            raise TypeError(f"{name}(): argument '{argument}' must be numbers or Tensors, got {[type(v).__name__ for v in given]}")
        if len(given) != len(first):
            raise RuntimeError("Tensor list must have same number of elements as scalar list.")
        return given
    return _beside(name, first, given, argument, position)


def _one_of(name: str, **given: Any) -> Any:
    """The one argument that is there, of several spellings."""
    found = [value for value in given.values() if value is not None]
    if len(found) != 1:
        raise TypeError(f"{name}() received an invalid combination of arguments: it takes one of {', '.join(given)}")
    return found[0]


def _named(function: Any, name: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__.partition(".")[0]
    return function


def _unary(op: str) -> tuple[Callable[[Tensors], Out], Callable[[Tensors], In]]:
    name = f"_foreach_{op}"
    compute, write = getattr(Tensor, op), getattr(Tensor, op + "_")

    def apply(self: Tensors) -> Out:
        return tuple(compute(t) for t in _tensors(name, self))

    def apply_(self: Tensors) -> In:
        return [write(t) for t in _tensors(name + "_", self)]

    return _named(apply, name), _named(apply_, name + "_")


def _binary(op: str, method: str = "") -> tuple[Callable[..., Out], Callable[..., In]]:
    """With a number, a 0-d tensor, numbers or tensors; `alpha` where the method has one and there are tensors to scale."""
    name = f"_foreach_{op}"
    compute, write = getattr(Tensor, method or op), getattr(Tensor, (method or op) + "_")

    def prepared(
        name: str, self: Tensors, other: Any, scalar: Any, scalars: Any, alpha: Any
    ) -> tuple[Tensors, Sequence[Any], dict[str, Any]]:
        tensors = _tensors(name, self)
        operands = _operands(name, tensors, _one_of(name, other=other, scalar=scalar, scalars=scalars))
        if alpha is None:
            return tensors, operands, {}
        if op not in ("add", "sub") or not isinstance(operands[0], Tensor):
            raise TypeError(f"{name}() received an invalid combination of arguments: alpha= goes with tensors to add or subtract")
        return tensors, operands, {"alpha": alpha}

    def apply(self: Tensors, other: Any = None, *, scalar: Any = None, scalars: Any = None, alpha: Any = None) -> Out:
        tensors, operands, options = prepared(name, self, other, scalar, scalars, alpha)
        return tuple(compute(t, o, **options) for t, o in zip(tensors, operands, strict=True))

    def apply_(self: Tensors, other: Any = None, *, scalar: Any = None, scalars: Any = None, alpha: Any = None) -> In:
        tensors, operands, options = prepared(name + "_", self, other, scalar, scalars, alpha)
        return [write(t, o, **options) for t, o in zip(tensors, operands, strict=True)]

    return _named(apply, name), _named(apply_, name + "_")


def _combined(op: str) -> tuple[Callable[..., Out], Callable[..., In]]:
    """addcmul and addcdiv, scaled by a number, numbers, or a vector of them."""
    name = f"_foreach_{op}"
    compute, write = getattr(Tensor, op), getattr(Tensor, op + "_")

    def prepared(name: str, self: Tensors, tensor1: Tensors, tensor2: Tensors, scalars: Any, value: Any) -> Any:
        tensors = _tensors(name, self)
        first, second = _beside(name, tensors, tensor1, "tensor1", 2), _beside(name, tensors, tensor2, "tensor2", 3)
        values = 1 if scalars is None and value is None else _one_of(name, scalars=scalars, value=value)
        if isinstance(values, Tensor) and values.dim() > 0:
            if values.dim() != 1:
                raise RuntimeError(f"Expected packed scalar Tensor to be of dimension 1. Got {values.dim()} instead.")
            if values.numel() != len(tensors):
                raise RuntimeError(f"Expected length of scalars to match input of length {len(tensors)} but got {values.numel()} instead.")
            values = values.tolist()
        numbers = _operands(name, tensors, values, "scalars", 4)
        return zip(tensors, first, second, (v.item() if isinstance(v, Tensor) else v for v in numbers), strict=True)

    def apply(self: Tensors, tensor1: Tensors, tensor2: Tensors, scalars: Any = None, *, value: Any = None) -> Out:
        return tuple(compute(t, a, b, value=v) for t, a, b, v in prepared(name, self, tensor1, tensor2, scalars, value))

    def apply_(self: Tensors, tensor1: Tensors, tensor2: Tensors, scalars: Any = None, *, value: Any = None) -> In:
        return [write(t, a, b, value=v) for t, a, b, v in prepared(name + "_", self, tensor1, tensor2, scalars, value)]

    return _named(apply, name), _named(apply_, name + "_")


_foreach_abs, _foreach_abs_ = _unary("abs")
_foreach_acos, _foreach_acos_ = _unary("acos")
_foreach_asin, _foreach_asin_ = _unary("asin")
_foreach_atan, _foreach_atan_ = _unary("atan")
_foreach_ceil, _foreach_ceil_ = _unary("ceil")
_foreach_cos, _foreach_cos_ = _unary("cos")
_foreach_cosh, _foreach_cosh_ = _unary("cosh")
_foreach_erf, _foreach_erf_ = _unary("erf")
_foreach_erfc, _foreach_erfc_ = _unary("erfc")
_foreach_exp, _foreach_exp_ = _unary("exp")
_foreach_expm1, _foreach_expm1_ = _unary("expm1")
_foreach_floor, _foreach_floor_ = _unary("floor")
_foreach_frac, _foreach_frac_ = _unary("frac")
_foreach_lgamma, _foreach_lgamma_ = _unary("lgamma")
_foreach_log, _foreach_log_ = _unary("log")
_foreach_log10, _foreach_log10_ = _unary("log10")
_foreach_log1p, _foreach_log1p_ = _unary("log1p")
_foreach_log2, _foreach_log2_ = _unary("log2")
_foreach_neg, _foreach_neg_ = _unary("neg")
_foreach_reciprocal, _foreach_reciprocal_ = _unary("reciprocal")
_foreach_round, _foreach_round_ = _unary("round")
_foreach_rsqrt, _foreach_rsqrt_ = _unary("rsqrt")
_foreach_sigmoid, _foreach_sigmoid_ = _unary("sigmoid")
_foreach_sign, _foreach_sign_ = _unary("sign")
_foreach_sin, _foreach_sin_ = _unary("sin")
_foreach_sinh, _foreach_sinh_ = _unary("sinh")
_foreach_sqrt, _foreach_sqrt_ = _unary("sqrt")
_foreach_tan, _foreach_tan_ = _unary("tan")
_foreach_tanh, _foreach_tanh_ = _unary("tanh")
_foreach_trunc, _foreach_trunc_ = _unary("trunc")

_foreach_add, _foreach_add_ = _binary("add")
_foreach_sub, _foreach_sub_ = _binary("sub")
_foreach_mul, _foreach_mul_ = _binary("mul")
_foreach_div, _foreach_div_ = _binary("div")
_foreach_clamp_max, _foreach_clamp_max_ = _binary("clamp_max")
_foreach_clamp_min, _foreach_clamp_min_ = _binary("clamp_min")
_foreach_maximum, _foreach_maximum_ = _binary("maximum", "clamp_min")
_foreach_minimum, _foreach_minimum_ = _binary("minimum", "clamp_max")

_foreach_addcdiv, _foreach_addcdiv_ = _combined("addcdiv")
_foreach_addcmul, _foreach_addcmul_ = _combined("addcmul")


def _foreach_pow(self: Any, exponent: Any) -> Out:
    """Powers of tensors, or of one number by tensors."""
    if _is_number(self):
        return tuple(_ops.pow(self, t) for t in _tensors("_foreach_pow", exponent, "exponent", 2))
    tensors = _tensors("_foreach_pow", self)
    return tuple(t.pow(e) for t, e in zip(tensors, _operands("_foreach_pow", tensors, exponent, "exponent"), strict=True))


def _foreach_pow_(self: Tensors, exponent: Any) -> In:
    tensors = _tensors("_foreach_pow_", self)
    return [t.pow_(e) for t, e in zip(tensors, _operands("_foreach_pow_", tensors, exponent, "exponent"), strict=True)]


def _foreach_lerp(self: Tensors, tensors1: Tensors, weight: Any = None, *, weights: Any = None) -> Out:
    tensors = _tensors("_foreach_lerp", self)
    others = _beside("_foreach_lerp", tensors, tensors1, "tensors1", 2)
    shares = _operands("_foreach_lerp", tensors, _one_of("_foreach_lerp", weight=weight, weights=weights), "weight", 3)
    return tuple(t.lerp(o, w) for t, o, w in zip(tensors, others, shares, strict=True))


def _foreach_lerp_(self: Tensors, tensors1: Tensors, weight: Any = None, *, weights: Any = None) -> In:
    tensors = _tensors("_foreach_lerp_", self)
    others = _beside("_foreach_lerp_", tensors, tensors1, "tensors1", 2)
    shares = _operands("_foreach_lerp_", tensors, _one_of("_foreach_lerp_", weight=weight, weights=weights), "weight", 3)
    return [t.lerp_(o, w) for t, o, w in zip(tensors, others, shares, strict=True)]


def _foreach_clone(self: Tensors, *, memory_format: Any = None) -> Out:
    options = {} if memory_format is None else {"memory_format": memory_format}
    return tuple(t.clone(**options) for t in _tensors("_foreach_clone", self))


def _foreach_copy_(self: Tensors, src: Tensors, non_blocking: bool = False) -> In:
    tensors = _tensors("_foreach_copy_", self)
    return [t.copy_(s) for t, s in zip(tensors, _beside("_foreach_copy_", tensors, src, "src", 2), strict=True)]


def _foreach_zero_(self: Tensors) -> In:
    return [t.zero_() for t in _tensors("_foreach_zero_", self)]


def _foreach_max(self: Tensors) -> Out:
    """The largest element of each."""
    tensors = _tensors("_foreach_max", self)
    if not all(t.numel() for t in tensors):
        raise RuntimeError("_foreach_max cannot compute the maximum of an empty tensor; max over zero elements is undefined.")
    return tuple(t.max() for t in tensors)


def _foreach_mm(self: Tensors, mat2: Tensors) -> Out:
    tensors = _tensors("_foreach_mm", self)
    return tuple(a.mm(b) for a, b in zip(tensors, _beside("_foreach_mm", tensors, mat2, "mat2", 2), strict=True))


def _foreach_norm(self: Tensors, ord: Any = 2, dtype: Any = None) -> Out:
    """The norm of all elements of each."""
    tensors = _tensors("_foreach_norm", self)
    if ord == math.inf and not all(t.numel() for t in tensors):
        raise RuntimeError(
            "_foreach_norm cannot compute the infinity norm on an empty tensor because the operation does not have an identity"
        )
    return tuple(torch.linalg.vector_norm(t, ord, dtype=dtype) for t in tensors)


def _foreach_powsum(self: Tensors, ord: Any = 2, dtype: Any = None) -> Out:
    """The sum of the powers of all absolute elements of each: a norm without its root."""
    tensors = _tensors("_foreach_powsum", self)
    for t in tensors:
        if not t.is_floating_point() and not t.is_complex():
            raise NotImplementedError(f'"powsum" not implemented for {t.dtype}')
    wide = tensors if dtype is None else [t.to(dtype) for t in tensors]
    return tuple(t.abs().pow(ord).sum() for t in wide)


__all__ = sorted(name for name in dict(globals()) if name.startswith("_foreach_"))
