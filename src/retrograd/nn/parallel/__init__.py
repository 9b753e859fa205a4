"""Modules spread over devices, as far as one device goes: there everything runs where it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from retrograd._C import Tensor
from retrograd.nn.modules.module import Module
from retrograd.nn.parallel.distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel", "gather", "parallel_apply", "replicate", "scatter"]


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


def parallel_apply(
    modules: Sequence[Module], inputs: Sequence[Any], kwargs_tup: Sequence[dict[str, Any]] | None = None, devices: Any = None
) -> list[Any]:
    """Calls each module on its inputs, one after the other."""
    if len(modules) != len(inputs):
        raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of inputs {len(inputs)}")
    options = kwargs_tup if kwargs_tup is not None else [{}] * len(modules)
    return [
        module(*(given if isinstance(given, (list, tuple)) else (given,)), **kwargs)
        for module, given, kwargs in zip(modules, inputs, options, strict=True)
    ]


def replicate(network: Module, devices: Sequence[Any], detach: bool = False) -> list[Module]:
    """Copies of a module on other devices, of which there are none."""
    raise AssertionError("Broadcast function not implemented for CPU tensors")


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """Parts of tensors on other devices, of which there are none."""
    raise ValueError(f"Expected a non cpu device, but got: {', '.join(map(str, target_gpus))}, and there is no other device than the CPU")


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Tensor:
    """Tensors from other devices, of which there are none, in one."""
    raise AssertionError("Gather function not implemented for CPU tensors")
