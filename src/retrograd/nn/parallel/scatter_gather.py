"""torch.nn.parallel.scatter_gather: the functions of torch.nn.parallel that spread tensors, where libraries look for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from retrograd.nn.parallel import gather, scatter

__all__ = ["gather", "scatter", "scatter_kwargs"]


def scatter_kwargs(inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """Parts of arguments on other devices, of which there are none."""
    return scatter(inputs, target_gpus, dim)
