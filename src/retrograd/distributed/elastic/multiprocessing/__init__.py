"""torch.distributed.elastic.multiprocessing."""

from retrograd.distributed.elastic.multiprocessing import errors as errors
