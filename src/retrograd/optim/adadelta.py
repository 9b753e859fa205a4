"""Adadelta."""

from __future__ import annotations

from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.optim.optimizer import ParameterOptimizer, add_product_, add_scaled_, check_epsilon, check_lr, check_not_negative

__all__ = ["Adadelta", "adadelta"]


class Adadelta(ParameterOptimizer):
    """Steps in proportion to the size of earlier steps over that of the gradients.

    Args:
        rho: how much of the running means of squares is kept at each step.
        weight_decay, maximize, differentiable: as for SGD.
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_epsilon(eps)
        check_not_negative(weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _new_state(self, param: Tensor, grad: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        return {"square_avg": _C._ops.zeros_like(param), "acc_delta": _C._ops.zeros_like(param)}

    def _update(self, param: Tensor, grad: Tensor, state: dict[str, Any], step: float, group: dict[str, Any]) -> None:
        rho, eps, square, steps = group["rho"], group["eps"], state["square_avg"], state["acc_delta"]
        add_product_(square.mul_(rho), grad, grad, 1 - rho)
        delta = steps.add(eps).sqrt() / square.add(eps).sqrt() * grad
        add_product_(steps.mul_(rho), delta, delta, 1 - rho)
        add_scaled_(param, delta, -group["lr"])


def adadelta(
    params: list[Tensor],
    grads: list[Tensor],
    square_avgs: list[Tensor],
    acc_deltas: list[Tensor],
    state_steps: list[Tensor],
    capturable: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: float,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> None:
    """A step without an optimizer, which writes the state where it lies: in lists, a tensor for each parameter."""
    Adadelta._step_lists(
        params, grads, state_steps, {"square_avg": square_avgs, "acc_delta": acc_deltas},
        lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize, capturable=capturable, differentiable=differentiable,
    )  # fmt: skip
