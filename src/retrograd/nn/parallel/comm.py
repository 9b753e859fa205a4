"""torch.nn.parallel.comm: what moves tensors between accelerators, of which there are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn


def _refuse(name: str) -> NoReturn:
    raise RuntimeError(f"{name}: tensors can only be moved between accelerators, and there is no other device than the CPU")


def broadcast(tensor: Any, devices: Sequence[Any] | None = None, *, out: Any = None) -> NoReturn:
    """A tensor, on several devices."""
    _refuse("broadcast")


def broadcast_coalesced(tensors: Sequence[Any], devices: Sequence[Any], buffer_size: int = 10485760) -> NoReturn:
    """Tensors, on several devices."""
    _refuse("broadcast_coalesced")


def scatter(
    tensor: Any, devices: Sequence[Any] | None = None, chunk_sizes: Any = None, dim: int = 0, streams: Any = None, *, out: Any = None
) -> NoReturn:
    """Parts of a tensor, each on a device."""
    _refuse("scatter")


def gather(tensors: Sequence[Any], dim: int = 0, destination: Any = None, *, out: Any = None) -> NoReturn:
    """Tensors from several devices, in one."""
    _refuse("gather")


def reduce_add(inputs: Sequence[Any], destination: Any = None) -> NoReturn:
    """The sum of tensors from several devices."""
    raise AssertionError("reduce_add expects all inputs to be on GPUs, but input 0 is on CPU")


def reduce_add_coalesced(inputs: Sequence[Sequence[Any]], destination: Any = None, buffer_size: int = 10485760) -> NoReturn:
    """The sums of tensors from several devices."""
    raise AssertionError("reduce_add expects all inputs to be on GPUs, but input 0 is on CPU")
