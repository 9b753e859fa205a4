"""torch.distributed.fsdp: models that lie across processes. Its settings can be made; wrapping a model is refused."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

from retrograd._refusals import refused

__all__ = [
    "BackwardPrefetch", "CPUOffload", "CPUOffloadPolicy", "FSDPModule", "FullOptimStateDictConfig", "FullStateDictConfig", "FullyShardedDataParallel",
    "LocalOptimStateDictConfig", "LocalStateDictConfig", "MixedPrecision", "MixedPrecisionPolicy", "OffloadPolicy", "OptimStateDictConfig",
    "OptimStateKeyType", "ShardedOptimStateDictConfig", "ShardedStateDictConfig", "ShardingStrategy", "StateDictConfig", "StateDictSettings",
    "StateDictType", "UnshardHandle", "fully_shard", "register_fsdp_forward_method",
]  # fmt: skip

_WHY = (
    "{name}: models that lie across processes are not supported; retrograd computes in one process, where the model itself is all there is"
)


class ShardingStrategy(enum.Enum):
    """What processes share out."""

    FULL_SHARD = enum.auto()
    SHARD_GRAD_OP = enum.auto()
    NO_SHARD = enum.auto()
    HYBRID_SHARD = enum.auto()
    _HYBRID_SHARD_ZERO2 = enum.auto()


class BackwardPrefetch(enum.Enum):
    """When the next parameters are fetched."""

    BACKWARD_PRE = enum.auto()
    BACKWARD_POST = enum.auto()


class StateDictType(enum.Enum):
    """What state_dict() gives."""

    FULL_STATE_DICT = enum.auto()
    LOCAL_STATE_DICT = enum.auto()
    SHARDED_STATE_DICT = enum.auto()


class OptimStateKeyType(enum.Enum):
    """How the state of an optimizer names parameters."""

    PARAM_NAME = enum.auto()
    PARAM_ID = enum.auto()


@dataclasses.dataclass
class CPUOffload:
    """Whether parameters rest on the CPU."""

    offload_params: bool = False


@dataclasses.dataclass
class MixedPrecision:
    """Dtypes of parameters, reductions and buffers."""

    param_dtype: Any = None
    reduce_dtype: Any = None
    buffer_dtype: Any = None
    keep_low_precision_grads: bool = False
    cast_forward_inputs: bool = False
    cast_root_forward_inputs: bool = True


@dataclasses.dataclass(frozen=True)
class MixedPrecisionPolicy:
    """Dtypes of parameters, reductions and outputs."""

    param_dtype: Any = None
    reduce_dtype: Any = None
    output_dtype: Any = None
    cast_forward_inputs: bool = True


@dataclasses.dataclass
class OffloadPolicy:
    """Nothing rests elsewhere."""


@dataclasses.dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """Parameters rest on the CPU."""

    pin_memory: bool = True


@dataclasses.dataclass
class StateDictConfig:
    """What state_dict() does."""

    offload_to_cpu: bool = False


@dataclasses.dataclass
class FullStateDictConfig(StateDictConfig):
    """Of whole parameters."""

    rank0_only: bool = False


@dataclasses.dataclass
class LocalStateDictConfig(StateDictConfig):
    """Of flat parts."""


@dataclasses.dataclass
class ShardedStateDictConfig(StateDictConfig):
    """Of parts."""

    _use_dtensor: bool = False


@dataclasses.dataclass
class OptimStateDictConfig:
    """What the state of an optimizer holds."""

    offload_to_cpu: bool = True


@dataclasses.dataclass
class FullOptimStateDictConfig(OptimStateDictConfig):
    """Of whole parameters."""

    rank0_only: bool = False


@dataclasses.dataclass
class LocalOptimStateDictConfig(OptimStateDictConfig):
    """Of flat parts."""


@dataclasses.dataclass
class ShardedOptimStateDictConfig(OptimStateDictConfig):
    """Of parts."""

    _use_dtensor: bool = False


@dataclasses.dataclass
class StateDictSettings:
    """All of them together."""

    state_dict_type: StateDictType
    state_dict_config: StateDictConfig
    optim_state_dict_config: OptimStateDictConfig


_NAMES = "FSDPModule FullyShardedDataParallel UnshardHandle fully_shard register_fsdp_forward_method"
globals().update(refused(__name__, _NAMES, NotImplementedError, _WHY))
