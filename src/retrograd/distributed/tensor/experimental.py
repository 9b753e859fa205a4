"""What PyTorch tries out with tensors that lie across processes."""

# ruff: noqa: F822 - refused() makes some of these names

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from retrograd._refusals import refused
from retrograd.distributed.tensor import _WHY

__all__ = ["context_parallel", "implicit_replication", "local_map", "register_sharding"]


@contextlib.contextmanager
def implicit_replication() -> Iterator[None]:
    """Plain tensors count as replicated in a block: there are no others."""
    yield


globals().update(refused(__name__, "context_parallel local_map register_sharding", NotImplementedError, _WHY))
