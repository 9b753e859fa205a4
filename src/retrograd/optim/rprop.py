"""Rprop."""

from __future__ import annotations

from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.optim.optimizer import ParameterOptimizer, check_lr

__all__ = ["Rprop", "rprop"]


class Rprop(ParameterOptimizer):
    """Steps by the sign of the gradient only, of a size that grows while the sign stays and shrinks when it turns.

    Args:
        etas: the factors (shrink, grow).
        step_sizes: the (smallest, largest) size.
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _new_state(self, param: Tensor, grad: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        lr = group["lr"]
        if isinstance(lr, Tensor):
            size = _C._ops.ones_like(grad) * (lr * (1 + 1j) if grad.is_complex() else lr)
        else:
            size = _C._ops.full_like(grad, complex(lr, lr) if grad.is_complex() else lr)
        return {"prev": _C._ops.zeros_like(param), "step_size": size}

    def _update(self, param: Tensor, grad: Tensor, state: dict[str, Any], step: float, group: dict[str, Any]) -> None:
        (shrink, grow), size = group["etas"], state["step_size"]
        agreement = grad.mul(state["prev"])
        turned = agreement < 0
        factor = _C._ops.ones_like(agreement).masked_fill(agreement > 0, grow).masked_fill(turned, shrink)
        size.mul_(factor).clamp_(*group["step_sizes"])
        grad = grad.masked_fill(turned, 0)  # after a turn, wait for a step
        param.addcmul_(grad.sign(), size, value=-1)
        state["prev"] = state["prev"].copy_(grad) if not group["differentiable"] else grad.clone()


def rprop(
    params: list[Tensor],
    grads: list[Tensor],
    prevs: list[Tensor],
    step_sizes: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    capturable: bool = False,
    maximize: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    step_size_min: float,
    step_size_max: float,
    etaminus: float,
    etaplus: float,
) -> None:
    """A step without an optimizer, which writes the state where it lies: in lists, a tensor for each parameter."""
    Rprop._step_lists(
        params, grads, state_steps, {"prev": prevs, "step_size": step_sizes},
        etas=(etaminus, etaplus), step_sizes=(step_size_min, step_size_max), maximize=maximize, capturable=capturable, differentiable=differentiable,
    )  # fmt: skip
