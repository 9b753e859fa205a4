"""Adamax."""

from __future__ import annotations

from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.optim.optimizer import ParameterOptimizer, add_quotient_, blend_, check_betas, check_epsilon, check_lr, check_not_negative

__all__ = ["Adamax", "adamax"]


class Adamax(ParameterOptimizer):
    """Adam with a running maximum of the absolute gradient in place of the mean of its square. Arguments as for Adam."""

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_epsilon(eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _new_state(self, param: Tensor, grad: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        return {"exp_avg": _C._ops.zeros_like(param), "exp_inf": _C._ops.zeros_like(param)}

    def _update(self, param: Tensor, grad: Tensor, state: dict[str, Any], step: float, group: dict[str, Any]) -> None:
        (beta1, beta2), mean, largest = group["betas"], state["exp_avg"], state["exp_inf"]
        blend_(mean, grad, 1 - beta1)
        largest = _C._ops.maximum(largest.mul_(beta2), grad.abs().add_(group["eps"]), out=None if group["differentiable"] else largest)
        state["exp_inf"] = largest
        add_quotient_(param, mean, largest, -group["lr"] / (1 - beta1**step))


def adamax(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_infs: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: float,
    weight_decay: float,
) -> None:
    """A step without an optimizer, which writes the state where it lies: in lists, a tensor for each parameter."""
    Adamax._step_lists(
        params, grads, state_steps, {"exp_avg": exp_avgs, "exp_inf": exp_infs},
        betas=(beta1, beta2), lr=lr, eps=eps, weight_decay=weight_decay, maximize=maximize, capturable=capturable, differentiable=differentiable,
    )  # fmt: skip
