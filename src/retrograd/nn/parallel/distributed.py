"""DistributedDataParallel over a world of one: the module, with the names and blocks that programs use around it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from retrograd.nn.modules.module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """A module whose gradients are averaged over all processes in backward: over one they are what they are. state_dict() has its names under `module.`."""

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: Any = None,
        device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False,
    ) -> None:
        from retrograd.distributed import distributed_c10d as c10d

        super().__init__()
        self.process_group = process_group if process_group is not None else c10d._get_default_group()
        if not any(p.requires_grad for p in module.parameters()):
            raise RuntimeError("DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient.")
        if device_ids:
            kinds = {p.device.type for p in module.parameters()}
            raise ValueError(f"DistributedDataParallel device_ids and output_device arguments only work with single-device/multiple-device GPU modules or CPU "
                             f"modules, but got device_ids {list(device_ids)}, output_device {output_device}, and module parameters {kinds}.")  # fmt: skip
        self.module = module
        self.device_ids = None
        self.output_device = output_device
        self.broadcast_buffers = broadcast_buffers
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph = static_graph
        self.require_backward_grad_sync = True
        self.require_forward_param_sync = True

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """A block in whose backward passes gradients are not averaged."""
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def join(self, divide_by_initial_world_size: bool = True, enable: bool = True, throw_on_early_termination: bool = False) -> Any:
        """A block in which processes may have different numbers of steps."""
        return contextlib.nullcontext()

    def register_comm_hook(self, state: object, hook: Callable[..., Any]) -> None:
        """How gradients are averaged: over one process nothing is sent."""
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")

    def _set_static_graph(self) -> None:
        self.static_graph = True
