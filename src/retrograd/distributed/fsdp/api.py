"""Where PyTorch has the settings of FullyShardedDataParallel."""

from retrograd.distributed.fsdp import *  # noqa: F403
