"""Adafactor, where PyTorch keeps it (torch.optim._adafactor)."""

from __future__ import annotations

from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.optim.optimizer import GroupOptimizer, directed, new_count, scalar

__all__ = ["Adafactor", "adafactor"]

_ops = _C._ops


class Adafactor(GroupOptimizer):
    """Adam without momentum, whose mean square gradient of a matrix is kept as one of its rows and one of its columns.

    Args:
        lr: an upper bound of the relative step size.
        beta2_decay: the mean at step t takes t ** beta2_decay of the newest value.
        eps: a least mean square gradient (the dtype's own eps if None), and a least size of parameters, that steps are relative to.
        d: updates larger than this, by their root mean square, are scaled down to it.
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not eps[0] >= 0.0:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not eps[1] >= 0.0:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not weight_decay >= 0.0:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _new_state(self, grad: Tensor) -> dict[str, Tensor]:
        state = {"step": new_count()}
        if grad.dim() > 1:
            state["row_var"] = grad.new_zeros((*grad.shape[:-1], 1))
            state["col_var"] = grad.new_zeros((*grad.shape[:-2], 1, grad.size(-1)))
        else:
            state["variance"] = _ops.zeros_like(grad, memory_format=_C.preserve_format)
        return state

    def _step_group(self, group: dict[str, Any]) -> None:
        for p in group["params"]:
            if p.grad is None:
                continue
            state = self.state[p]
            if not state:
                state.update(self._new_state(p.grad))
            _step(p, p.grad, state, group)


def adafactor(
    params: list[Tensor],
    grads: list[Tensor],
    row_vars: list[Tensor | None],
    col_vars: list[Tensor | None],
    variances: list[Tensor | None],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    *,
    d: float,
    lr: float | Tensor,
    beta2_decay: float,
    weight_decay: float,
    eps1: float,
    eps2: float,
    maximize: bool,
) -> None:
    """A step without an optimizer, which writes the state where it lies: in lists, a tensor for each parameter."""
    if not all(isinstance(step, Tensor) for step in state_steps):
        raise RuntimeError("`state_steps` argument must contain a list of singleton tensors")
    if grad_scale is not None or found_inf is not None:
        raise RuntimeError(
            "adafactor() takes gradients as they are: unscale them first (GradScaler.unscale_), and leave grad_scale and found_inf at None"
        )
    group = {"lr": lr, "beta2_decay": beta2_decay, "eps": (eps1, eps2), "d": d, "weight_decay": weight_decay, "maximize": maximize}
    for p, grad, step, rows, columns, variance in zip(params, grads, state_steps, row_vars, col_vars, variances, strict=True):
        _step(p, grad, {"step": step, "row_var": rows, "col_var": columns, "variance": variance}, group)


def _step(param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
    """Of one parameter, on its state."""
    if param.is_complex():
        raise RuntimeError("Adafactor does not support complex parameters")
    state["step"] += 1
    step, lr, grad = state["step"].item(), scalar(group["lr"]), directed(grad, group["maximize"])
    least, least_size = group["eps"]
    least = _eps_of(param) if least is None else least
    newest = step ** group["beta2_decay"]
    size = max(least_size, param.norm(2).item() / param.numel() ** 0.5) if param.numel() else least_size
    alpha = size * min(lr, 1 / step**0.5)
    if group["weight_decay"] != 0:
        param.mul_(1 - lr * group["weight_decay"])
    if grad.dim() > 1:
        rows, columns = state["row_var"], state["col_var"]
        rows.lerp_(grad.norm(dim=-1, keepdim=True).square_().div_(grad.size(-1)), newest)
        columns.lerp_(grad.norm(dim=-2, keepdim=True).square_().div_(grad.size(-2)), newest)
        variance = (rows @ columns).div_(rows.mean(dim=-2, keepdim=True).clamp_(min=least))
    else:
        variance = state["variance"].lerp_(grad.square(), newest).clone()
    update = variance.clamp_(min=least * least).rsqrt_().mul_(grad)
    if not update.numel():
        return
    too_large = max(1.0, update.norm(2).item() / (update.numel() ** 0.5 * group["d"]))
    param.add_(update, alpha=-alpha / too_large)


def _eps_of(param: Tensor) -> float:
    from retrograd._info import finfo

    return finfo(param.dtype).eps
