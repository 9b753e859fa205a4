"""Averaged stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.optim.optimizer import ParameterOptimizer, add_scaled_, check_lr, check_not_negative, new_count, scalar

__all__ = ["ASGD", "asgd"]


class ASGD(ParameterOptimizer):
    """Gradient descent that also keeps the average of the parameters (state "ax").

    Args:
        lambd: how much the parameters decay.
        alpha: the power by which the rate falls.
        t0: the step from which on to average.
        weight_decay, maximize, differentiable: as for SGD.
    """

    _on_device = "params, mus, etas, and state_steps"

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _new_state(self, param: Tensor, grad: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        return {"eta": _rate(group["lr"]), "mu": new_count(1.0), "ax": _C._ops.zeros_like(param)}

    def _update(self, param: Tensor, grad: Tensor, state: dict[str, Any], step: float, group: dict[str, Any]) -> None:
        average, lr, lambd = state["ax"], group["lr"], group["lambd"]
        eta = state["eta"] if state["eta"].requires_grad else state["eta"].item()
        param.mul_(1 - lambd * eta)
        add_scaled_(param, grad, -eta)
        if state["mu"].item() == 1:
            average.copy_(param)
        else:
            average.add_(param.sub(average).mul(state["mu"]))
        eta = _rate(lr / ((1 + lambd * lr * step) ** group["alpha"]))
        state["eta"] = eta if eta.requires_grad else state["eta"].copy_(eta)
        state["mu"].copy_(new_count(1 / max(1, step - scalar(group["t0"]))))


def _rate(value: Any) -> Tensor:
    """A rate as the state keeps it."""
    return value if isinstance(value, Tensor) else new_count(value)


def asgd(
    params: list[Tensor],
    grads: list[Tensor],
    axs: list[Tensor],
    mus: list[Tensor],
    etas: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lambd: float,
    lr: float,
    t0: float,
    alpha: float,
    weight_decay: float,
) -> None:
    """A step without an optimizer, which writes the state where it lies: in lists, a tensor for each parameter."""
    ASGD._step_lists(
        params, grads, state_steps, {"ax": axs, "mu": mus, "eta": etas},
        lambd=lambd, lr=lr, t0=t0, alpha=alpha, weight_decay=weight_decay, maximize=maximize, capturable=capturable, differentiable=differentiable,
    )  # fmt: skip
