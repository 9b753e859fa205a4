"""Tensors spread over other devices, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from retrograd._C import Tensor

__all__ = ["gather", "scatter", "scatter_kwargs"]


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """Parts of tensors on other devices, of which there are none."""
    raise ValueError(f"Expected a non cpu device, but got: {', '.join(map(str, target_gpus))}, and there is no other device than the CPU")


def scatter_kwargs(inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """Parts of arguments on other devices, of which there are none."""
    return scatter(inputs, target_gpus, dim)


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Tensor:
    """Tensors from other devices, of which there are none, in one."""
    raise AssertionError("Gather function not implemented for CPU tensors")
