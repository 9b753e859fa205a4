"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.optim.optimizer import GroupOptimizer, add_scaled_, check_fused, check_lr, decayed, directed, options, unscaled

__all__ = ["SGD", "sgd"]


class SGD(GroupOptimizer):
    """param -= lr * grad, with momentum and weight decay.

    Args:
        momentum: how much of the last step's direction is kept.
        dampening: how much of the gradient is left out of it.
        weight_decay: times the parameter is added to the gradient.
        nesterov: looks one step ahead along the direction.
        maximize: goes up instead of down.
        foreach, fused: accepted for PyTorch's sake.
        differentiable: records the step itself, for gradients through it.
    """

    _fused = _C._sgd_step
    _takes_sparse = True

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(f"Nesterov momentum requires a momentum and zero dampening, got momentum={momentum} and dampening={dampening}")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)

    def _step_group(self, group: dict[str, Any]) -> None:
        group = options(group)
        state, momentum = self.state, group["momentum"]
        params = [p for p in group["params"] if p.grad is not None]
        if group["fused"] and any(p.grad.is_sparse for p in params):
            raise RuntimeError("`_fused_sgd` does not support sparse gradients")
        buffers = [state[p].get("momentum_buffer") for p in params] if momentum != 0 else None
        _step(
            params,
            [p.grad for p in params],
            buffers,
            lr=group["lr"],
            momentum=momentum,
            dampening=group["dampening"],
            weight_decay=group["weight_decay"],
            nesterov=group["nesterov"],
            maximize=group["maximize"],
            differentiable=group["differentiable"],
        )
        if buffers is not None:
            for p, buffer in zip(params, buffers, strict=True):
                state[p]["momentum_buffer"] = buffer


def _step(
    params: list[Tensor],
    grads: list[Tensor],
    buffers: list[Tensor | None] | None,
    *,
    lr: float | Tensor,
    momentum: float | Tensor,
    dampening: float | Tensor,
    weight_decay: float | Tensor,
    nesterov: bool,
    maximize: bool,
    differentiable: bool,
) -> None:
    """One step for all parameters of a group; buffers that do not exist yet are put into their list."""
    for i, (param, grad) in enumerate(zip(params, grads, strict=True)):
        grad = decayed(directed(grad, maximize), param, weight_decay)
        if buffers is not None:
            buffer = buffers[i]
            if buffer is None:
                buffer = grad.clone() if differentiable else grad.detach().clone()
            elif differentiable:
                buffer = buffer * momentum + grad * (1 - dampening)
            else:
                add_scaled_(buffer.mul_(momentum), grad, 1 - dampening)
            buffers[i] = buffer
            if not nesterov:
                grad = buffer
            else:
                grad = grad + buffer * momentum if isinstance(momentum, Tensor) else grad.add(buffer, alpha=momentum)
        add_scaled_(param, grad, -lr)


def sgd(
    params: list[Tensor],
    d_p_list: list[Tensor],
    momentum_buffer_list: list[Tensor | None],
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    *,
    weight_decay: float,
    momentum: float,
    lr: float,
    dampening: float,
    nesterov: bool,
    maximize: bool,
) -> None:
    """A step without an optimizer, which writes the momentum where it lies: in a list, a tensor or None for each parameter."""
    if not unscaled(d_p_list, grad_scale, found_inf, fused):
        return
    buffers = momentum_buffer_list if momentum != 0 else None
    _step(params, d_p_list, buffers, lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay, nesterov=nesterov,
          maximize=maximize, differentiable=False)  # fmt: skip
