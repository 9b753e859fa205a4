"""SparseAdam."""

from __future__ import annotations

from typing import Any

from retrograd._C import Tensor
from retrograd.optim.optimizer import GroupOptimizer, check_betas

__all__ = ["SparseAdam"]


class SparseAdam(GroupOptimizer):
    """Adam that steps only where a sparse gradient has elements. There are no sparse gradients yet, and it refuses all others."""

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

    def _step_group(self, group: dict[str, Any]) -> None:
        for p in group["params"]:
            if p.grad is not None:
                raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
