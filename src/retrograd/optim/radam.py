"""RAdam."""

from __future__ import annotations

from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.optim.optimizer import ParameterOptimizer, add_product_, blend_, check_betas, check_epsilon, check_lr, check_not_negative

__all__ = ["RAdam", "radam"]


class RAdam(ParameterOptimizer):
    """Adam that leaves out the second mean until it rests on enough steps. Arguments as for Adam."""

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
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
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _new_state(self, param: Tensor, grad: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        return {"exp_avg": _C._ops.zeros_like(param), "exp_avg_sq": _C._ops.zeros_like(param)}

    def _update(self, param: Tensor, grad: Tensor, state: dict[str, Any], step: float, group: dict[str, Any]) -> None:
        (beta1, beta2), lr, mean, square = group["betas"], group["lr"], state["exp_avg"], state["exp_avg_sq"]
        if group["decoupled_weight_decay"] and group["weight_decay"] != 0:
            param.mul_(1 - lr * group["weight_decay"])
        blend_(mean, grad, 1 - beta1)
        add_product_(square.mul_(beta2), grad, grad, 1 - beta2)
        correction = 1 - beta2**step
        move = mean / (1 - beta1**step) * lr
        # rho is the length of the simple moving average that the second mean amounts to; below 5 its variance is not known well enough.
        rho_limit = 2 / (1 - beta2) - 1
        rho = rho_limit - 2 * step * (beta2**step) / correction
        if rho > 5.0:
            rectification = ((rho - 4) * (rho - 2) * rho_limit / ((rho_limit - 4) * (rho_limit - 2) * rho)) ** 0.5
            move = move * (correction**0.5 / (square.sqrt() + group["eps"])) * rectification
        param.add_(move, alpha=-1.0)


def radam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: float,
    weight_decay: float,
    eps: float,
) -> None:
    """A step without an optimizer, which writes the state where it lies: in lists, a tensor for each parameter."""
    RAdam._step_lists(
        params, grads, state_steps, {"exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs},
        betas=(beta1, beta2), lr=lr, weight_decay=weight_decay, eps=eps, decoupled_weight_decay=decoupled_weight_decay, maximize=maximize, capturable=capturable, differentiable=differentiable,
    )  # fmt: skip
