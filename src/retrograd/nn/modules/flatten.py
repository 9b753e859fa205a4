"""Reshaping as modules."""

from __future__ import annotations

from typing import Any

from retrograd._C import Tensor
from retrograd.nn.modules.module import Module

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Makes one dimension of those from start_dim to end_dim."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Makes several dimensions of one."""

    def __init__(self, dim: int | str, unflattened_size: Any) -> None:
        super().__init__()
        if hasattr(dim, "__index__"):
            self._require_ints(unflattened_size)
        elif isinstance(dim, str):
            raise NotImplementedError("Unflatten by name: tensors have no named dimensions here; give the dimension as an int")
        else:
            raise TypeError(f"invalid argument type for dim parameter: expected an int, got {type(dim).__name__}")
        self.dim = dim
        self.unflattened_size = unflattened_size

    @staticmethod
    def _require_ints(sizes: Any) -> None:
        if not isinstance(sizes, (tuple, list)):
            raise TypeError("unflattened_size must be a tuple of ints, but found type " + type(sizes).__name__)
        for i, size in enumerate(sizes):
            if not isinstance(size, int):
                raise TypeError(f"unflattened_size must be tuple of ints, but found element of type {type(size).__name__} at pos {i}")

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)  # type: ignore[arg-type]

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
