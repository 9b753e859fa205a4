"""The old name of torch.distributed.tensor."""

from retrograd.distributed.tensor import *  # noqa: F403
