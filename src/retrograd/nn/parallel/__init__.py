"""Modules spread over devices, as far as one device goes: there everything runs where it is."""

from retrograd.nn.parallel import comm as comm
from retrograd.nn.parallel.data_parallel import DataParallel, data_parallel
from retrograd.nn.parallel.distributed import DistributedDataParallel
from retrograd.nn.parallel.parallel_apply import parallel_apply
from retrograd.nn.parallel.replicate import replicate
from retrograd.nn.parallel.scatter_gather import gather, scatter

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel", "gather", "parallel_apply", "replicate", "scatter"]
