"""The GradScaler of models that lie across processes."""

from retrograd._refusals import refused
from retrograd.distributed.fsdp import _WHY

globals().update(refused(__name__, "ShardedGradScaler", NotImplementedError, _WHY))
