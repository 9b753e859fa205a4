"""torch.distributed.tensor: tensors that lie across processes. For isinstance(), which is always False; making one is refused."""

from __future__ import annotations

from typing import Any, NoReturn

from retrograd._C import Tensor
from retrograd._refusals import refused
from retrograd.distributed.tensor.placement_types import Partial as Partial, Placement as Placement, Replicate as Replicate, Shard as Shard

__all__ = [
    "DTensor",
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "distribute_module",
    "distribute_tensor",
    "empty",
    "full",
    "ones",
    "rand",
    "randn",
    "zeros",
]

_WHY = "{name}: tensors that lie across processes are not supported; retrograd computes in one process"


class DTensor(Tensor):
    """A tensor whose parts processes hold."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(_WHY.format(name="torch.distributed.tensor.DTensor"))

    @staticmethod
    def from_local(local_tensor: Tensor, device_mesh: Any = None, placements: Any = None, **options: Any) -> NoReturn:
        """The tensor of which this process has a part."""
        raise NotImplementedError(_WHY.format(name="torch.distributed.tensor.DTensor.from_local"))


globals().update(refused(__name__, "distribute_module distribute_tensor empty full ones rand randn zeros", NotImplementedError, _WHY))
