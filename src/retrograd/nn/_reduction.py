"""torch.nn._reduction: reductions of losses as the numbers that ops take, for libraries with losses of their own."""

from __future__ import annotations

import warnings

from retrograd._ops.nn.losses import _reduction as number_of, older_reduction

__all__ = ["get_enum", "legacy_get_enum", "legacy_get_string"]


def get_enum(reduction: str) -> int:
    """The number of a reduction."""
    if reduction == "elementwise_mean":
        warnings.warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=2)
        reduction = "mean"
    return number_of(reduction)


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """The reduction that its older names ask for."""
    return older_reduction(size_average, reduce, emit_warning)


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """The number of the reduction that its older names ask for."""
    return number_of(older_reduction(size_average, reduce, emit_warning))
