"""Datasets, samplers and the loader of batches."""

from retrograd.utils.data.dataloader import (
    DataLoader as DataLoader,
    _DatasetKind as _DatasetKind,
    default_collate as default_collate,
    default_convert as default_convert,
    get_worker_info as get_worker_info,
)
from retrograd.utils.data.dataset import (
    ChainDataset as ChainDataset,
    ConcatDataset as ConcatDataset,
    Dataset as Dataset,
    IterableDataset as IterableDataset,
    StackDataset as StackDataset,
    Subset as Subset,
    TensorDataset as TensorDataset,
    random_split as random_split,
)
from retrograd.utils.data.distributed import DistributedSampler as DistributedSampler
from retrograd.utils.data.sampler import (
    BatchSampler as BatchSampler,
    RandomSampler as RandomSampler,
    Sampler as Sampler,
    SequentialSampler as SequentialSampler,
    SubsetRandomSampler as SubsetRandomSampler,
    WeightedRandomSampler as WeightedRandomSampler,
)
