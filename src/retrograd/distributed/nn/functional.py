"""Collectives with derivatives. Those of one process hand their tensor on, and its gradient back."""

from __future__ import annotations

import warnings
from typing import Any

from retrograd._C import Tensor
from retrograd.distributed import distributed_c10d as c10d

__all__ = ["all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce", "reduce_scatter", "scatter"]


def _older(name: str, new: str) -> None:
    text = f"torch.distributed.nn.functional.{name} is deprecated, use torch.distributed._functional_collectives.{new} instead."
    warnings.warn(text, FutureWarning, stacklevel=3)


def broadcast(tensor: Tensor, src: int, group: Any = None) -> Tensor:
    """What one process has."""
    _older("broadcast", "broadcast")
    c10d._of(group)
    c10d._check_root("broadcast", None, src)
    return tensor.clone()


def all_reduce(tensor: Tensor, op: Any = c10d.ReduceOp.SUM, group: Any = None) -> Tensor:
    """The sum over all processes."""
    _older("all_reduce", "all_reduce")
    c10d._of(group)
    return tensor.clone()


def reduce(tensor: Tensor, dst: int, op: Any = c10d.ReduceOp.SUM, group: Any = None) -> Tensor:
    """The sum over all processes, for one of them."""
    c10d._of(group)
    c10d._check_root("reduce", None, dst)
    return tensor.clone()


def all_gather(tensor: Tensor, group: Any = None) -> tuple[Tensor, ...]:
    """What all processes have."""
    _older("all_gather", "all_gather_single")
    c10d._of(group)
    return (tensor.clone(),)


def gather(tensor: Tensor, dst: int = 0, group: Any = None) -> tuple[Tensor, ...]:
    """What all processes have, for one of them."""
    c10d._of(group)
    c10d._check_root("gather", None, dst)
    return (tensor.clone(),)


def scatter(tensors: list[Tensor], src: int = 0, group: Any = None) -> Tensor:
    """A part for each process."""
    c10d._of(group)
    c10d._check_root("scatter", None, src)
    return c10d._only("scatter", tensors).clone()


def reduce_scatter(output: Tensor, input_list: list[Tensor], op: Any = c10d.ReduceOp.SUM, group: Any = None) -> Tensor:
    """The sum over all processes of one part for each."""
    c10d._of(group)
    return c10d._only("reduce_scatter", input_list).clone()


def all_to_all(output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Any = None) -> tuple[Tensor, ...]:
    """A part from each process for each."""
    c10d._of(group)
    return (c10d._only("alltoall", input_tensor_list).clone(),)


def all_to_all_single(
    output: Tensor, input: Tensor, output_split_sizes: Any = None, input_split_sizes: Any = None, group: Any = None
) -> Tensor:
    """The same, of parts in one tensor."""
    c10d._of(group)
    return input.clone()
