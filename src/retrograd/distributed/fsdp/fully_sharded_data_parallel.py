"""Where PyTorch has FullyShardedDataParallel and its settings."""

from retrograd.distributed.fsdp import *  # noqa: F403
