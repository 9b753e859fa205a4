"""Limits on the size of gradients."""

from __future__ import annotations

import types
import warnings
from collections.abc import Iterable
from typing import Any

from retrograd import _C
from retrograd._C import Tensor

__all__: list[str] = []

_ops = _C._ops


def _grads_of(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    elif isinstance(parameters, types.GeneratorType):
        parameters = list(parameters)
        if not parameters:
            warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=3)
    return [p.grad for p in parameters if p.grad is not None]


def _total_norm(tensors: list[Tensor], norm_type: float, error_if_nonfinite: bool) -> Tensor:
    if not tensors:
        return _C._tensor_from(0.0, _C.get_default_dtype())
    norms = [t.norm(norm_type) for t in tensors]
    total = _ops.stack(norms).norm(norm_type)
    if error_if_nonfinite and not total.isfinite().item():
        bad = [i for i, norm in enumerate(norms) if not norm.isfinite().item()]
        which = f"{len(bad)} of {len(tensors)} gradients are not finite, the first of shape {list(tensors[bad[0]].shape)}" if bad else ""
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be clipped. Pass "
            "`error_if_nonfinite=False` to scale the gradients by it anyway.\n"
            f"  {which or 'all gradients are finite, and their norms overflow together'}\n"
            "  Hint: torch.autograd.set_detect_anomaly(True) names the op whose derivative is not."
        )
    return total


def _clip(grads: list[Tensor], max_norm: float, total_norm: Tensor) -> None:
    # Without asking whether it is needed: a factor of 1 costs less than an answer. The 1e-6 is part of the contract.
    factor = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
    for grad in grads:
        grad.mul_(factor)


def get_total_norm(
    tensors: Tensor | Iterable[Tensor], norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The norm of all tensors, as if they were one vector."""
    with _C.no_grad():
        return _total_norm([tensors] if isinstance(tensors, Tensor) else list(tensors), float(norm_type), error_if_nonfinite)


def clip_grads_with_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None) -> None:
    """Scales all gradients by max_norm / total_norm where that is less than 1."""
    with _C.no_grad():
        _clip(_grads_of(parameters), float(max_norm), total_norm)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scales all gradients, in place, so that their norm as one vector is at most max_norm; returns what it was before.

    Args:
        norm_type: the order of the norm; inf for the largest absolute value.
        error_if_nonfinite: raise if the norm is infinite or not a number.
        foreach: accepted for PyTorch's sake.
    """
    with _C.no_grad():
        grads = _grads_of(parameters)
        total = _total_norm(grads, float(norm_type), error_if_nonfinite)
        _clip(grads, float(max_norm), total)
        return total


def clip_grad_norm(*args: Any, **kwargs: Any) -> Tensor:
    """Deprecated name of clip_grad_norm_()."""
    warnings.warn(
        "torch.nn.utils.clip_grad_norm is now deprecated in favor of torch.nn.utils.clip_grad_norm_.", FutureWarning, stacklevel=2
    )
    return clip_grad_norm_(*args, **kwargs)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Limits every element of the gradients, in place, to [-clip_value, clip_value]."""
    clip_value = float(clip_value)
    with _C.no_grad():
        for grad in _grads_of(parameters):
            grad.clamp_(min=-clip_value, max=clip_value)
