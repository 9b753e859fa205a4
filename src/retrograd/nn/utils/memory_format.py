"""Memory formats of convolutions' weights."""

from __future__ import annotations

from typing import Any, TypeVar

import retrograd as torch

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]

M = TypeVar("M", bound=Any)


def convert_conv2d_weight_memory_format(module: M, memory_format: torch.memory_format) -> M:
    """Lays out the weights of all 2-d convolutions, transposed ones included, in a memory format; nothing else of the module changes."""
    return _convert(module, memory_format, 2)


def convert_conv3d_weight_memory_format(module: M, memory_format: torch.memory_format) -> M:
    """The same for 3-d convolutions."""
    return _convert(module, memory_format, 3)


def _convert(module: M, memory_format: torch.memory_format, dims: int) -> M:
    kinds = tuple(kind for name in ("Conv", "ConvTranspose") if (kind := getattr(torch.nn, f"{name}{dims}d", None)))
    for part in module.modules():
        if isinstance(part, kinds):
            part.weight.data = part.weight.detach().clone(memory_format=memory_format)
    return module
