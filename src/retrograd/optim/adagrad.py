"""Adagrad."""

from __future__ import annotations

from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.optim.optimizer import ParameterOptimizer, add_quotient_, check_epsilon, check_fused, check_lr, check_not_negative, new_count

__all__ = ["Adagrad", "adagrad"]


class Adagrad(ParameterOptimizer):
    """Divides the gradient by the root of the sum of its squares so far.

    Args:
        lr_decay: divides lr by 1 + steps * lr_decay.
        initial_accumulator_value: what the sum starts from.
        weight_decay, maximize, differentiable: as for SGD.
    """

    _takes_sparse = True

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check_not_negative(lr_decay=lr_decay, weight_decay=weight_decay, initial_accumulator_value=initial_accumulator_value)
        check_epsilon(eps)
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)
        for group in self.param_groups:  # there from the start, so that share_memory() can find it
            for p in group["params"]:
                self.state[p].update({"step": new_count(), **self._new_state(p, p, group)})

    def share_memory(self) -> None:
        """Moves the sums to memory that processes share."""
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["sum"].share_memory_()

    def _new_state(self, param: Tensor, grad: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        with _C.no_grad():
            return {"sum": _C._ops.full_like(param, group["initial_accumulator_value"])}

    def _update(self, param: Tensor, grad: Tensor, state: dict[str, Any], step: float, group: dict[str, Any]) -> None:
        rate = group["lr"] / (1 + (step - 1) * group["lr_decay"])
        total = state["sum"]
        total.addcmul_(grad, grad, value=1)
        add_quotient_(param, grad, total.sqrt() + group["eps"], -rate)

    def _update_sparse(self, param: Tensor, grad: Any, state: dict[str, Any], step: float, group: dict[str, Any]) -> None:
        if group["weight_decay"] != 0:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        grad = grad.coalesce()
        at, values = tuple(grad.indices()), grad.values()
        total = state["sum"]
        total.index_put_(at, values * values, accumulate=True)
        rate = group["lr"] / (1 + (step - 1) * group["lr_decay"])
        param.index_put_(at, values / (total[at].sqrt() + group["eps"]) * -rate, accumulate=True)


def adagrad(
    params: list[Tensor],
    grads: list[Tensor],
    state_sums: list[Tensor],
    state_steps: list[Tensor],
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: float,
    weight_decay: float,
    lr_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """A step without an optimizer, which writes the state where it lies: in lists, a tensor for each parameter."""
    Adagrad._step_lists(
        params, grads, state_steps, {"sum": state_sums},
        lr=lr, weight_decay=weight_decay, lr_decay=lr_decay, eps=eps, maximize=maximize, differentiable=differentiable,
    )  # fmt: skip
