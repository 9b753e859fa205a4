"""Muon, where PyTorch keeps it (torch.optim._muon)."""

from __future__ import annotations

import math
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.optim.optimizer import GroupOptimizer, scalar

__all__ = ["Muon", "muon"]

_ops = _C._ops


def _orthogonalized(update: Tensor, coefficients: tuple[float, float, float], steps: int, eps: float) -> Tensor:
    """A matrix with all singular values brought near one, by a Newton-Schulz iteration in bfloat16, which is accurate enough for it."""
    if steps >= 100:
        raise ValueError(f"Number of steps must be less than 100 for computational efficiency, got {steps}")
    if len(coefficients) != 3:
        raise ValueError(f"Coefficients must be a tuple of exactly 3 values, got {len(coefficients)}")
    a, b, c = coefficients
    x = update.bfloat16()
    tall = x.size(0) > x.size(1)
    if tall:  # the smaller of the two products of the matrix with itself
        x = x.T
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        x = _ops.addmm(x, _ops.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if tall else x


class Muon(GroupOptimizer):
    """Momentum whose direction is made orthogonal. For matrices alone: hidden layers, not embeddings, biases or heads.

    Args:
        weight_decay: decoupled, times lr.
        ns_coefficients, eps, ns_steps: of the Newton-Schulz iteration.
        adjust_lr_fn: "original" (the default) scales lr by sqrt(max(1, rows / columns)), "match_rms_adamw" by 0.2 * sqrt(max(rows, columns)).
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not value >= 0.0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        super().add_param_group(param_group)
        for p in self.param_groups[-1]["params"]:
            if p.ndim != 2:
                self.param_groups.pop()
                raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}")

    def _step_group(self, group: dict[str, Any]) -> None:
        for p in group["params"]:
            if p.grad is None:
                continue
            state = self.state[p]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = _ops.zeros_like(p.grad, memory_format=_C.preserve_format)
            _step(p, p.grad, state["momentum_buffer"], group)


def muon(
    params: list[Tensor],
    grads: list[Tensor],
    muon_momentum_bufs: list[Tensor],
    *,
    foreach: bool | None = None,
    lr: float | Tensor,
    weight_decay: float,
    momentum: float,
    nesterov: bool,
    ns_coefficients: tuple[float, float, float],
    ns_steps: int,
    eps: float,
    adjust_lr_fn: str | None,
    has_complex: bool,
) -> None:
    """A step without an optimizer, which writes the state where it lies: in a list, a tensor for each parameter."""
    if foreach:
        raise RuntimeError("Foreach is not supported for Muon yet: leave foreach at None")
    group = {
        "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov, "ns_coefficients": ns_coefficients,
        "ns_steps": ns_steps, "eps": eps, "adjust_lr_fn": adjust_lr_fn,
    }  # fmt: skip
    for p, grad, mean in zip(params, grads, muon_momentum_bufs, strict=True):
        _step(p, grad, mean, group)


def _step(param: Tensor, grad: Tensor, mean: Tensor, group: dict[str, Any]) -> None:
    """Of one parameter, on the moving average of its gradient."""
    if param.is_complex():
        raise RuntimeError("Muon does not support complex parameters")
    lr = scalar(group["lr"])
    mean.lerp_(grad, 1 - group["momentum"])
    update = grad.lerp(mean, group["momentum"]) if group["nesterov"] else mean
    update = _orthogonalized(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
    rows, columns = param.shape
    if group["adjust_lr_fn"] == "match_rms_adamw":
        factor = 0.2 * math.sqrt(max(rows, columns))
    else:
        factor = math.sqrt(max(1, rows / columns if columns else 1))
    param.mul_(1 - lr * group["weight_decay"])
    param.add_(update, alpha=-lr * factor)
