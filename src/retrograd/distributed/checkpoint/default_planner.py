"""Where PyTorch has DefaultLoadPlanner and DefaultSavePlanner."""

from retrograd._refusals import refused
from retrograd.distributed.checkpoint import _WHY

globals().update(refused(__name__, "DefaultLoadPlanner DefaultSavePlanner", NotImplementedError, _WHY))
