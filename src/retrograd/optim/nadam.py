"""NAdam."""

from __future__ import annotations

from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.optim.optimizer import (
    ParameterOptimizer,
    add_product_,
    add_quotient_,
    blend_,
    check_betas,
    check_epsilon,
    check_lr,
    check_not_negative,
    new_count,
)

__all__ = ["NAdam", "nadam"]


class NAdam(ParameterOptimizer):
    """Adam with Nesterov's look ahead; momentum_decay lets the momentum grow towards betas[0]. Other arguments as for Adam."""

    _on_device = "params, mu_products and state_steps"

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
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
        check_not_negative(weight_decay=weight_decay, momentum_decay=momentum_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _new_state(self, param: Tensor, grad: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        return {"mu_product": new_count(1.0), "exp_avg": _C._ops.zeros_like(param), "exp_avg_sq": _C._ops.zeros_like(param)}

    def _update(self, param: Tensor, grad: Tensor, state: dict[str, Any], step: float, group: dict[str, Any]) -> None:
        (beta1, beta2), lr, mean, square = group["betas"], group["lr"], state["exp_avg"], state["exp_avg_sq"]
        if group["decoupled_weight_decay"] and group["weight_decay"] != 0:
            param.mul_(1 - lr * group["weight_decay"])
        mu, mu_next = (beta1 * (1.0 - 0.5 * (0.96 ** (at * group["momentum_decay"]))) for at in (step, step + 1))
        state["mu_product"] *= mu
        product = state["mu_product"].item() if not isinstance(mu, Tensor) else state["mu_product"].clone()
        blend_(mean, grad, 1 - beta1)
        add_product_(square.mul_(beta2), grad, grad, 1 - beta2)
        scale = square.div(1 - beta2**step).sqrt() + group["eps"]
        add_quotient_(param, grad, scale, -lr * (1.0 - mu) / (1.0 - product))
        add_quotient_(param, mean, scale, -lr * mu_next / (1.0 - product * mu_next))


def nadam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    mu_products: list[Tensor],
    state_steps: list[Tensor],
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: float,
    weight_decay: float,
    momentum_decay: float,
    eps: float,
) -> None:
    """A step without an optimizer, which writes the state where it lies: in lists, a tensor for each parameter."""
    NAdam._step_lists(
        params, grads, state_steps, {"exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs, "mu_product": mu_products},
        betas=(beta1, beta2), lr=lr, weight_decay=weight_decay, momentum_decay=momentum_decay, eps=eps, decoupled_weight_decay=decoupled_weight_decay, maximize=maximize, capturable=capturable, differentiable=differentiable,
    )  # fmt: skip
