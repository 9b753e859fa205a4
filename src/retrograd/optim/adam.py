"""Adam and, with decoupled weight decay, AdamW."""

from __future__ import annotations

from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.optim.optimizer import (
    GroupOptimizer,
    add_product_,
    add_quotient_,
    blend_,
    check_betas,
    check_epsilon,
    check_fused,
    check_lr,
    decayed,
    differentiable_state,
    directed,
    new_count,
    options,
    real_views,
    refuse_capturable,
    unscaled,
)

__all__ = ["Adam", "adam"]

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
    _instead_of_sparse = "Adam does not support sparse gradients, please consider SparseAdam instead"

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
        check_epsilon(eps)
        if isinstance(betas[0], Tensor) != isinstance(betas[1], Tensor):
            raise ValueError(
                f"betas must be either both floats or both Tensors, got {type(betas[0]).__name__} and {type(betas[1]).__name__}"
            )
        check_betas(betas, foreach, capturable)
        if not weight_decay >= 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        defaults = {
            "lr": lr,
            "betas": tuple(betas),
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

    def _init_states(self, group: dict[str, Any]) -> None:
        for p in group["params"]:
            state = self.state[p] if p.grad is not None else None
            if state is not None and not state:
                state["step"] = new_count()
                state["exp_avg"] = _C._ops.zeros_like(p)
                state["exp_avg_sq"] = _C._ops.zeros_like(p)
                if group["amsgrad"]:
                    state["max_exp_avg_sq"] = _C._ops.zeros_like(p)

    def _step_group(self, group: dict[str, Any]) -> None:
        if group["capturable"] and not group["fused"]:
            refuse_capturable()
        group = options(group)
        self._init_states(group)
        params = [p for p in group["params"] if p.grad is not None]
        if group["amsgrad"]:
            for p in params:
                self.state[p]["max_exp_avg_sq"]  # a KeyError, before anything has moved, where amsgrad was switched on after the first step
        _step(
            params,
            [p.grad for p in params],
            [self.state[p] for p in params],
            lr=group["lr"],
            betas=group["betas"],
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            amsgrad=group["amsgrad"],
            decoupled_weight_decay=group["decoupled_weight_decay"],
            maximize=group["maximize"],
            differentiable=group["differentiable"],
        )


def _step(
    params: list[Tensor],
    grads: list[Tensor],
    states: list[dict[str, Tensor]],
    *,
    lr: float | Tensor,
    betas: tuple[float | Tensor, float | Tensor],
    eps: float,
    weight_decay: float | Tensor,
    amsgrad: bool,
    decoupled_weight_decay: bool,
    maximize: bool,
    differentiable: bool,
) -> None:
    """One step for all parameters of a group; states have step, exp_avg, exp_avg_sq and, for amsgrad, max_exp_avg_sq."""
    beta1, beta2 = betas
    for param, grad, state in zip(params, grads, states, strict=True):
        if differentiable:
            differentiable_state(state)
        if param.is_complex():
            with real_views(param, grad, state) as (param, grad, state):
                _step([param], [grad], [state], lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad,
                      decoupled_weight_decay=decoupled_weight_decay, maximize=maximize, differentiable=differentiable)  # fmt: skip
            continue
        count = state["step"]
        count += 1
        step = count.item()
        grad = directed(grad, maximize)
        if weight_decay != 0 and decoupled_weight_decay:
            param.mul_(1 - lr * weight_decay)
        elif weight_decay != 0:
            grad = decayed(grad, param, weight_decay)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        blend_(mean, grad, 1 - beta1)
        add_product_(square.mul_(beta2), grad, grad, 1 - beta2)
        if amsgrad:
            largest = state["max_exp_avg_sq"]
            square = state["max_exp_avg_sq"] = _maximum(largest, square, out=None if differentiable else largest)
        scale = (square.sqrt() / (1 - beta2**step) ** 0.5).add_(eps)
        add_quotient_(param, mean, scale, -lr / (1 - beta1**step))


def adam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    max_exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    decoupled_weight_decay: bool = False,
    *,
    amsgrad: bool,
    beta1: float | Tensor,
    beta2: float | Tensor,
    lr: float | Tensor,
    weight_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """A step without an optimizer, which writes the state where it lies: in lists, a tensor for each parameter."""
    if not all(isinstance(step, Tensor) for step in state_steps):
        raise RuntimeError("API has changed, `state_steps` argument must contain a list of singleton tensors")
    if capturable:
        refuse_capturable()
    if not unscaled(grads, grad_scale, found_inf, fused):
        return
    states = [{"step": n, "exp_avg": m, "exp_avg_sq": v} for n, m, v in zip(state_steps, exp_avgs, exp_avg_sqs, strict=True)]
    if amsgrad:
        for state, largest in zip(states, max_exp_avg_sqs, strict=True):
            state["max_exp_avg_sq"] = largest
    _step(
        params,
        grads,
        states,
        lr=lr,
        betas=(beta1, beta2),
        eps=eps,
        weight_decay=weight_decay,
        amsgrad=amsgrad,
        decoupled_weight_decay=decoupled_weight_decay,
        maximize=maximize,
        differentiable=differentiable,
    )
