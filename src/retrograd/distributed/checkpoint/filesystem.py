"""Where PyTorch has FileSystemReader and FileSystemWriter."""

from retrograd._refusals import refused
from retrograd.distributed.checkpoint import _WHY

globals().update(refused(__name__, "FileSystemReader FileSystemWriter", NotImplementedError, _WHY))
