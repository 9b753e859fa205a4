"""RMSprop."""

from __future__ import annotations

from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.optim.optimizer import (
    ParameterOptimizer,
    add_product_,
    add_quotient_,
    add_scaled_,
    blend_,
    check_epsilon,
    check_lr,
    check_not_negative,
)

__all__ = ["RMSprop", "rmsprop"]


class RMSprop(ParameterOptimizer):
    """Divides the gradient by the root of a running mean of its square.

    Args:
        alpha: how much of the mean is kept at each step.
        centered: divides by an estimate of the standard deviation instead.
        momentum, weight_decay, maximize, differentiable: as for SGD.
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_epsilon(eps)
        check_not_negative(momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _new_state(self, param: Tensor, grad: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        names = ["square_avg"] + ["momentum_buffer"] * (group["momentum"] > 0) + ["grad_avg"] * bool(group["centered"])
        return {name: _C._ops.zeros_like(param) for name in names}

    def _update(self, param: Tensor, grad: Tensor, state: dict[str, Any], step: float, group: dict[str, Any]) -> None:
        lr, alpha, square = group["lr"], group["alpha"], state["square_avg"]
        add_product_(square.mul_(alpha), grad, grad, 1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            blend_(mean, grad, 1 - alpha)
            root = square.addcmul(mean, mean, value=-1).sqrt()
        else:
            root = square.sqrt()
        root = root + group["eps"]
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"]
            buffer.mul_(group["momentum"]).addcdiv_(grad, root)
            add_scaled_(param, buffer, -lr)
        else:
            add_quotient_(param, grad, root, -lr)


def rmsprop(
    params: list[Tensor],
    grads: list[Tensor],
    square_avgs: list[Tensor],
    grad_avgs: list[Tensor],
    momentum_buffer_list: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lr: float,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
) -> None:
    """A step without an optimizer, which writes the state where it lies: in lists, a tensor for each parameter."""
    state = {"square_avg": square_avgs}
    if momentum > 0:
        state["momentum_buffer"] = momentum_buffer_list
    if centered:
        state["grad_avg"] = grad_avgs
    RMSprop._step_lists(
        params, grads, state_steps, state,
        lr=lr, alpha=alpha, eps=eps, weight_decay=weight_decay, momentum=momentum, centered=centered, maximize=maximize,
        capturable=capturable, differentiable=differentiable,
    )  # fmt: skip
