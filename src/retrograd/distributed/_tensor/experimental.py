"""The old name of torch.distributed.tensor.experimental."""

from retrograd.distributed.tensor.experimental import *  # noqa: F403
