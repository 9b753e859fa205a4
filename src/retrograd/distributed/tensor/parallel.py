"""Layers that lie across processes."""

from retrograd._refusals import refused
from retrograd.distributed.tensor import _WHY

_NAMES = "ColwiseParallel ParallelStyle PrepareModuleInput PrepareModuleInputOutput PrepareModuleOutput RowwiseParallel SequenceParallel loss_parallel parallelize_module"
globals().update(refused(__name__, _NAMES, NotImplementedError, _WHY))
