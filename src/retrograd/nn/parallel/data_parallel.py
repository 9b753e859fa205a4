"""A module called on parts of a batch on several devices: on one, the module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from retrograd.nn.modules.module import Module

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """Calls a module, which without accelerators is all there is to do; state_dict() has its names under `module.`."""

    def __init__(self, module: Module, device_ids: Sequence[Any] | None = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = []  # which are those of accelerators

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """module(*inputs, **module_kwargs)."""
    return module(*(inputs if isinstance(inputs, tuple) else (inputs,)), **(module_kwargs or {}))
