"""torch.distributed.optim: optimizers that share out their state among processes; of one, it has all."""

from __future__ import annotations

from typing import Any

from retrograd._refusals import refused
from retrograd.optim.optimizer import Optimizer

__all__ = ["DistributedOptimizer", "PostLocalSGDOptimizer", "ZeroRedundancyOptimizer"]


class ZeroRedundancyOptimizer(Optimizer):
    """An optimizer whose state processes share out: in a world of one, that optimizer."""

    def __init__(self, params: Any, optimizer_class: type[Optimizer], process_group: Any = None, **defaults: Any) -> None:
        from retrograd.distributed import distributed_c10d as c10d

        self.process_group = process_group if process_group is not None else c10d._get_default_group()
        for option in ("parameters_as_bucket_view", "overlap_with_ddp"):
            defaults.pop(option, None)
        self.optim = optimizer_class(params, **defaults)
        self.defaults, self.param_groups, self.state = self.optim.defaults, self.optim.param_groups, self.optim.state

    def step(self, closure: Any = None, **kwargs: Any) -> Any:
        """One step of the optimizer."""
        return self.optim.step(closure, **kwargs)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Resets gradients."""
        self.optim.zero_grad(set_to_none)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """More parameters."""
        self.optim.add_param_group(param_group)

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Gathers the state, which is all here."""

    def state_dict(self) -> dict[str, Any]:
        """The state of the optimizer."""
        return self.optim.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes a state."""
        self.optim.load_state_dict(state_dict)
        self.param_groups, self.state = self.optim.param_groups, self.optim.state


_WHY = "{name}: optimizers across processes are not supported; retrograd computes in one process"
globals().update(refused(__name__, "DistributedOptimizer PostLocalSGDOptimizer", NotImplementedError, _WHY))
