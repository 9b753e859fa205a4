"""The old place of fully_shard()."""

from retrograd.distributed.fsdp import (  # type: ignore[attr-defined]
    CPUOffloadPolicy as CPUOffloadPolicy,
    FSDPModule as FSDPModule,
    MixedPrecisionPolicy as MixedPrecisionPolicy,
    OffloadPolicy as OffloadPolicy,
    fully_shard as fully_shard,
)
