"""Elementwise ops on batches: examples are padded to one rank, and then broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.func._batching import Batch, Flags, Values, _short_ways, padded, rule

_ops = _C._ops

# A new pointwise op that is not listed here is looped over: correct, but slow. tests/func/test_batching_table.py compares with the op table.
POINTWISE = (
    "complex", "polar", "_angle", "_polar", "relu", "threshold_backward", "threshold", "leaky_relu", "leaky_relu_backward", "elu", "elu_backward", "celu", "softplus",
    "softplus_backward", "log_sigmoid", "_log_sigmoid", "log_sigmoid_backward", "silu", "silu_backward", "mish", "mish_backward",
    "gelu", "_gelu", "_gelu_tanh", "_gelu_backward", "_gelu_tanh_backward", "_sinc_backward", "_erfcx_backward",
    "_log_ndtr_backward", "_log_ndtr_curve", "_prelu_backward", "_bce_slope", "hardtanh", "hardtanh_backward", "hardsigmoid", "hardswish",
    "hardswish_backward", "hardshrink", "softshrink", "_shrink_backward", "neg", "abs", "sign", "sgn", "pow", "pow.scalar",
    "pow.self_scalar", "_pow_left", "_pow", "_scaled_product", "_square", "sqrt", "rsqrt", "reciprocal", "exp", "log", "exp2", "expm1",
    "log2", "log10", "log1p", "logaddexp", "logaddexp2", "xlogy", "xlogy.scalar", "xlogy.self_scalar", "sin", "cos", "tan", "asin",
    "acos", "atan", "atan2", "sinc", "hypot", "deg2rad", "rad2deg", "tanh", "tanh_backward", "sigmoid", "sigmoid_backward", "sinh",
    "cosh", "asinh", "acosh", "atanh", "logit", "_logit", "erf", "erfc", "erfinv", "lgamma", "digamma", "i0", "special_i0e",
    "special_i1", "special_i1e", "special_erfcx", "special_ndtri", "special_log_ndtr", "special_entr", "polygamma", "mvlgamma",
    "_mvlgamma", "igamma", "igammac", "special_xlog1py", "special_zeta", "special_xlog1py.scalar", "special_zeta.scalar",
    "special_xlog1py.self_scalar", "special_zeta.self_scalar", "add", "sub", "rsub", "rsub.scalar", "mul", "div", "_div_backward_other",
    "div.mode", "_div_trunc", "floor_divide", "floor_divide.self_scalar", "remainder", "remainder.scalar", "remainder.self_scalar",
    "fmod", "fmod.scalar", "addcmul", "addcdiv", "lerp.tensor", "lerp", "eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf",
    "isfinite", "isposinf", "isneginf", "isreal", "signbit", "logical_and", "logical_or", "logical_xor", "logical_not", "bitwise_and",
    "bitwise_and.self_scalar", "bitwise_or", "bitwise_or.self_scalar", "bitwise_xor", "bitwise_xor.self_scalar", "bitwise_not",
    "bitwise_left_shift", "bitwise_left_shift.self_scalar", "bitwise_right_shift", "bitwise_right_shift.self_scalar", "gcd", "lcm",
    "floor", "ceil", "round", "trunc", "round.decimals", "_round_decimals", "frac", "clamp.tensor", "clamp", "clamp_min.tensor",
    "clamp_min", "clamp_max.tensor", "clamp_max", "_clamp", "_clamp_below", "_clamp_above", "_clamp_backward", "maximum",
    "_maximum_backward", "fmax", "minimum", "_minimum_backward", "fmin", "nan_to_num", "_nan_to_num", "copysign", "copysign.scalar",
    "nextafter", "_nextafter", "ldexp", "heaviside", "_squared_difference", "_smooth_l1", "_huber", "_binary_cross_entropy",
    "_bce_with_logits", "_bce_with_logits_weighted", "_soft_margin", "_prelu_kernel",
)  # fmt: skip


def _category(dtype: Any) -> int:
    return 0 if dtype is _C.bool else 3 if dtype.is_complex else 2 if dtype.is_floating_point else 1


def _promoted(dtypes: Sequence[Any]) -> Any:
    common = dtypes[0]
    for dtype in dtypes[1:]:
        common = _C.promote_types(common, dtype)
    return common


def example_dtype(tensors: Sequence[Tensor], batched: Sequence[bool], numbers: Sequence[Any] = ()) -> Any:
    """The dtype in which an example is computed: tensors with dimensions come first, then those without, then numbers."""
    ranked = [(v.ndim - b, v.dtype) for v, b in zip(tensors, batched, strict=True)]
    levels = [[d for n, d in ranked if n], [d for n, d in ranked if not n], [_number_dtype(n) for n in numbers]]
    result = None
    for level in levels:
        if level and (result is None or _category(_promoted(level)) > _category(result)):
            result = _promoted(level)
    return result


def _number_dtype(number: Any) -> Any:
    return _C.bool if isinstance(number, bool) else _C.int64 if isinstance(number, int) else _C.get_default_dtype()


def _align(values: Values, batched: Flags, places: Sequence[int], promotes: Sequence[int]) -> int:
    """Pads the batched tensors at `places` to the largest rank, and returns it.

    Where an example is 0-d its batch is not: the dtype it would have counted for, those at `promotes` decide, is given to it first."""
    ndim, mixed, bare, dtype = 0, False, False, None
    for i in places:
        n = values[i].ndim - batched[i]
        ndim = max(ndim, n)
        if i in promotes:
            mixed = mixed or (dtype is not None and dtype is not values[i].dtype)
            dtype = values[i].dtype
            bare = bare or (batched[i] and not n)
    if mixed and bare:
        counted = [i for i in promotes if isinstance(values[i], Tensor)]
        numbers = [values[i] for i in promotes if isinstance(values[i], (bool, int, float))]
        common = example_dtype([values[i] for i in counted], [batched[i] for i in counted], numbers)
        for i in counted:
            if batched[i] and values[i].ndim == 1 and values[i].dtype is not common:
                values[i] = values[i].to(common)
    for i in places:
        if batched[i] and values[i].ndim <= ndim:
            values[i] = padded(values[i], ndim)
    return ndim


def _tensors(values: Values) -> list[int]:
    return [i for i, v in enumerate(values) if isinstance(v, Tensor)]


def pointwise(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    places = _tensors(values)
    if len(places) > 1:
        _align(values, batched, places, places if len(places) == len(values) else range(len(values)))
    return op(*values)


def pointwise_(batch: Batch, op: Any, values: Values, batched: Flags) -> None:
    places = _tensors(values)
    if len(places) > 1:
        ndim = values[0].ndim - 1
        for i in places:
            check_broadcast(values[0], values[i], batched[i], ndim)
        _align(values, batched, places, range(len(values)))
    op(*values)


def check_broadcast(target: Tensor, value: Tensor, batched: bool, ndim: int) -> None:
    """An example may not have more dimensions than the one it is written to."""
    if value.ndim - batched > ndim:
        shape = list(value.shape[1:] if batched else value.shape)
        raise RuntimeError(f"output with shape {list(target.shape[1:])} doesn't match the broadcast shape {shape}")


_short_ways.add(pointwise)
for _name in POINTWISE:
    _stem, _, _overload = _name.partition(".")
    rule(_name)(pointwise)
    rule(f"{_stem}_.{_overload}" if _overload else f"{_stem}_")(pointwise_)


@rule("where")
def _where(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    _align(values, batched, _tensors(values), (1, 2))
    return op(*values)


@rule("masked_fill", "masked_fill_")
def _masked_fill(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    if op.name == "masked_fill_":
        check_broadcast(values[0], values[1], batched[1], values[0].ndim - 1)
    _align(values, batched, (0, 1), ())
    return op(*values)


@rule("masked_fill.tensor", "masked_fill_.tensor")
def _masked_fill_tensor(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    if values[2].ndim - batched[2] != 0:
        raise RuntimeError(
            f"masked_fill only supports a 0-dimensional value tensor, but got tensor with {values[2].ndim - batched[2]} dimension(s)."
        )
    inplace = op.name == "masked_fill_.tensor"
    if inplace:
        check_broadcast(values[0], values[1], batched[1], values[0].ndim - 1)
    _align(values, batched, (0, 1), ())
    if not batched[2]:
        return op(*values)
    target, mask, value = values
    value = padded(value.to(target.dtype), max(target.ndim - batched[0], mask.ndim - batched[1]))
    filled = _ops.where(mask, value, target)
    return target.copy_(filled) if inplace else filled


@rule("copy_")
def _copy(batch: Batch, op: Any, values: Values, batched: Flags) -> None:
    if batched[1]:
        missing = values[0].ndim - values[1].ndim
        if missing < 0:  # leading dimensions of size 1 are forgiven
            extra = values[1].shape[1 : 1 - missing]
            if any(n != 1 for n in extra):
                check_broadcast(values[0], values[1], True, values[0].ndim - 1)
            values[1] = values[1].view((values[1].shape[0], *values[1].shape[1 - missing :]))
        values[1] = padded(values[1], values[0].ndim - 1)
    else:
        source = values[1]
        while source.ndim >= values[0].ndim and source.ndim and source.shape[0] == 1:
            source = source.squeeze(0)
        check_broadcast(values[0], source, False, values[0].ndim - 1)
        values[1] = source
    op(*values)


@rule("fill.Tensor")
def _fill(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    target, value = values
    if value.ndim - batched[1] != 0:
        raise RuntimeError(f"fill only supports 0-dimension value tensor but got tensor with {value.ndim - batched[1]} dimensions.")
    if not batched[1]:
        return op(target, value)
    full = batch.full(target, batched[0])
    return padded(value.to(target.dtype), full.ndim - 1).expand(full.shape).clone()


@rule("fill_.inplace_Tensor")
def _fill_inplace(batch: Batch, op: Any, values: Values, batched: Flags) -> None:
    target, value = values
    if value.ndim - batched[1] != 0:
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim - batched[1]} dimensions.")
    if batched[1]:
        target.copy_(padded(value, target.ndim - 1))
    else:
        op(target, value)
