"""Collectives that return their result instead of writing it."""

from __future__ import annotations

from typing import Any

from retrograd._C import Tensor
from retrograd.distributed import distributed_c10d as c10d

__all__ = [
    "AsyncCollectiveTensor",
    "all_gather_tensor",
    "all_gather_tensor_autograd",
    "all_reduce",
    "all_to_all_single",
    "all_to_all_single_autograd",
    "broadcast",
    "reduce_scatter_tensor",
    "reduce_scatter_tensor_autograd",
    "wait_tensor",
]


class AsyncCollectiveTensor(Tensor):
    """A result that is under way: for isinstance(), which is always False."""


def wait_tensor(tensor: Tensor) -> Tensor:
    """The tensor, when it is there."""
    return tensor


def _group(group: Any) -> Any:
    c10d._of(None if isinstance(group, (list, str)) or not isinstance(group, c10d.ProcessGroup) else group)
    return group


def all_reduce(self: Tensor, reduceOp: str, group: Any, tag: str = "") -> Tensor:
    """The sum over all processes."""
    _group(group)
    return self.clone()


def broadcast(self: Tensor, src: int, group: Any, tag: str = "") -> Tensor:
    """What one process has."""
    _group(group)
    return self.clone()


def all_gather_tensor(self: Tensor, gather_dim: int, group: Any, tag: str = "") -> Tensor:
    """What all processes have, one behind the other."""
    _group(group)
    return self.clone()


def reduce_scatter_tensor(self: Tensor, reduceOp: str, scatter_dim: int, group: Any, tag: str = "") -> Tensor:
    """The sum over all processes of one part for each."""
    _group(group)
    return self.clone()


def all_to_all_single(self: Tensor, output_split_sizes: Any, input_split_sizes: Any, group: Any, tag: str = "") -> Tensor:
    """A part from each process for each."""
    _group(group)
    return self.clone()


# PyTorch has these for what its others are not: differentiable.
all_gather_tensor_autograd = all_gather_tensor
reduce_scatter_tensor_autograd = reduce_scatter_tensor
all_to_all_single_autograd = all_to_all_single
