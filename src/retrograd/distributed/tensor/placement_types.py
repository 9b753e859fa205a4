"""Where the parts of a tensor lie."""

from __future__ import annotations

import dataclasses

__all__ = ["Partial", "Placement", "Replicate", "Shard"]


class Placement:
    """How a tensor lies along a dimension of a mesh."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether each process has a part."""
        return isinstance(self, Shard) and (dim is None or self.dim == dim)

    def is_replicate(self) -> bool:
        """Whether each process has all."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether each process has a summand."""
        return isinstance(self, Partial) and (reduce_op is None or self.reduce_op == reduce_op)


@dataclasses.dataclass(frozen=True)
class Shard(Placement):
    """Each process has a part."""

    dim: int


@dataclasses.dataclass(frozen=True)
class _StridedShard(Shard):
    """Each process has several parts."""

    split_factor: int = 1


@dataclasses.dataclass(frozen=True)
class Replicate(Placement):
    """Each process has all."""


@dataclasses.dataclass(frozen=True)
class Partial(Placement):
    """Each process has a summand."""

    reduce_op: str = "sum"
