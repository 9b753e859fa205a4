"""What distributions share: broadcasting of parameters, probabilities and logits, properties that are computed when asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Number
from typing import Any

import retrograd as torch
from retrograd._C import Size, Tensor

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]  # fmt: skip

euler_constant = 0.57721566490153286060
_EMPTY = Size()
_EPS = {dtype: torch.finfo(dtype).eps for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64)}
_TINY = {dtype: torch.finfo(dtype).tiny for dtype in _EPS}


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """The values as tensors of one shape. Numbers take the dtype and the device of the first tensor, or the default ones."""
    if len(values) == 2:  # by far the most common
        a, b = values
        if type(a) is Tensor and type(b) is Tensor and a.shape == b.shape:
            return values
    first = None
    numbers = False
    for value in values:
        if isinstance(value, Tensor):
            if first is None:
                first = value
        elif isinstance(value, Number):
            numbers = True
        elif not hasattr(type(value), "__torch_function__"):
            raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__.")
    if not numbers:
        return torch.broadcast_tensors(*values)
    dtype = torch.get_default_dtype() if first is None else first.dtype
    device = None if first is None else first.device
    values = tuple(torch.tensor(v, dtype=dtype, device=device) if isinstance(v, Number) else v for v in values)
    return values if first is None else torch.broadcast_tensors(*values)


def _standard_normal(shape: Sequence[int], dtype: Any, device: Any) -> Tensor:
    return torch.randn(shape, dtype=dtype, device=device)


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """The sum over the last `dim` dimensions."""
    return value if dim == 0 else value.reshape(value.shape[:-dim] + (-1,)).sum(-1)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    return torch.sigmoid(logits) if is_binary else torch.softmax(logits, -1)


def clamp_probs(probs: Tensor) -> Tensor:
    """The probabilities, kept away from 0 and 1 by the precision of their dtype."""
    eps = _EPS[probs.dtype]
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    clamped = clamp_probs(probs)
    return torch.log(clamped) - torch.log1p(-clamped) if is_binary else torch.log(clamped)


def _one_of(distribution: Any, probs: Any, logits: Any) -> Tensor:
    """Sets the one of the two parameters that is given."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    name, given = ("probs", probs) if logits is None else ("logits", logits)
    (value,) = broadcast_all(given)
    setattr(distribution, name, value)
    return value


def _count_and_one_of(distribution: Any, total_count: Any, probs: Any, logits: Any) -> tuple[Tensor, Tensor]:
    """The same beside a count, in its dtype."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    name, given = ("probs", probs) if logits is None else ("logits", logits)
    total_count, value = broadcast_all(total_count, given)
    setattr(distribution, name, value)
    return total_count.type_as(value), value


class lazy_property:
    """A property that is computed when it is first read, with gradients, and kept by the instance from then on."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        self.name = wrapped.__name__
        self.__doc__ = wrapped.__doc__

    def __get__(self, instance: Any, obj_type: Any = None) -> Any:
        if instance is None:
            return _lazy_property_and_property(self.wrapped)
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.name, value)
        return value


class _lazy_property_and_property(lazy_property, property):
    """What a class shows for a lazy property: a property as well, for tools that look for those."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        property.__init__(self, wrapped)


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The elements of the lower triangles of matrices, up to a diagonal, row by row."""
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    places = torch.arange(n, device=mat.device)
    return mat[..., places < places.view(-1, 1) + (diag + 1)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Lower triangular matrices with these elements: what tril_matrix_to_vec undoes."""
    length, size = vec.shape[-1], max(1, 1 - diag)
    while _tril_numel(size, diag) < length:
        size += 1
    if _tril_numel(size, diag) != length:
        raise ValueError(
            f"The size of last dimension is {length} which cannot be expressed as the lower triangular part of a square D x D matrix."
        )
    mat = torch.zeros(vec.shape[:-1] + (size, size), dtype=vec.dtype, device=vec.device)
    places = torch.arange(size, device=vec.device)
    mat[..., places < places.view(-1, 1) + (diag + 1)] = vec
    return mat


def _tril_numel(size: int, diag: int) -> int:
    """How many elements of a square matrix are on that diagonal or below it."""
    full = max(0, size - diag - 1) if diag >= 0 else size  # rows that the diagonal crosses before they end
    short = size + min(diag, 0) if diag < 0 else full
    return short * (short + 1) // 2 if diag < 0 else size * size - full * (full + 1) // 2
