"""Adam and, with decoupled weight decay, AdamW."""

from __future__ import annotations

from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.optim.optimizer import (
    GroupOptimizer,
    check_betas,
    check_fused,
    check_lr,
    decayed,
    differentiable_state,
    directed,
    new_count,
    real_views,
    refuse_capturable,
    scalar,
)

__all__ = ["Adam"]

_maximum = _C._ops.maximum


class Adam(GroupOptimizer):
    """Steps of a size that running means of the gradient and of its square give.

    Args:
        betas: how much of either mean is kept at each step.
        eps: added to the root of the second.
        weight_decay: times the parameter is added to the gradient; with decoupled_weight_decay, times lr times the
            parameter is subtracted from it instead.
        amsgrad: divides by the largest second mean so far.
        maximize: goes up instead of down.
        foreach, fused: accepted for PyTorch's sake.
        differentiable: records the step itself, for gradients through it.
    """

    _fused = _C._adam_step

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_lr(lr, foreach, capturable)
        if not eps >= 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        if not weight_decay >= 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)

    def _step_group(self, group: dict[str, Any]) -> None:
        if group["capturable"]:
            refuse_capturable()
        params, states = [], []
        for p in group["params"]:
            if p.grad is None:
                continue
            state = self.state[p]
            if not state:
                state["step"] = new_count()
                state["exp_avg"] = _C._ops.zeros_like(p)
                state["exp_avg_sq"] = _C._ops.zeros_like(p)
                if group["amsgrad"]:
                    state["max_exp_avg_sq"] = _C._ops.zeros_like(p)
            params.append(p)
            states.append(state)
        adam(
            params,
            [p.grad for p in params],
            states,
            lr=group["lr"],
            betas=group["betas"],
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            amsgrad=group["amsgrad"],
            decoupled_weight_decay=group["decoupled_weight_decay"],
            maximize=group["maximize"],
            differentiable=group["differentiable"],
        )


def adam(
    params: list[Tensor],
    grads: list[Tensor],
    states: list[dict[str, Tensor]],
    *,
    lr: float | Tensor,
    betas: tuple[float | Tensor, float | Tensor],
    eps: float,
    weight_decay: float,
    amsgrad: bool,
    decoupled_weight_decay: bool,
    maximize: bool,
    differentiable: bool,
) -> None:
    """One step for all parameters of a group; states have step, exp_avg, exp_avg_sq and, for amsgrad, max_exp_avg_sq."""
    keeps_lr = differentiable and isinstance(lr, Tensor)  # then its gradient is wanted too
    rate = lr if keeps_lr else scalar(lr)
    beta1, beta2 = (scalar(beta) for beta in betas)
    for param, grad, state in zip(params, grads, states, strict=True):
        if differentiable:
            differentiable_state(state)
        if param.is_complex():
            with real_views(param, grad, state) as (param, grad, state):
                adam([param], [grad], [state], lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad,
                     decoupled_weight_decay=decoupled_weight_decay, maximize=maximize, differentiable=differentiable)  # fmt: skip
            continue
        count = state["step"]
        count += 1
        step = count.item()
        grad = directed(grad, maximize)
        if weight_decay != 0 and decoupled_weight_decay:
            param.mul_(1 - rate * weight_decay)
        elif weight_decay != 0:
            grad = decayed(grad, param, weight_decay)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        if amsgrad:
            largest = state["max_exp_avg_sq"]
            square = state["max_exp_avg_sq"] = _maximum(largest, square, out=None if differentiable else largest)
        size = rate / (1 - beta1**step)
        scale = (square.sqrt() / (1 - beta2**step) ** 0.5).add_(eps)
        if keeps_lr:
            param.add_(mean / scale * -size)
        else:
            param.addcdiv_(mean, scale, value=-size)
