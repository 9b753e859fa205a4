"""Datasets, samplers and the loader of batches."""

import importlib as _importlib
import typing as _typing

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

if _typing.TYPE_CHECKING:
    from retrograd.utils.data import datapipes as datapipes
    from retrograd.utils.data.datapipes.datapipe import (
        DataChunk as DataChunk,
        DFIterDataPipe as DFIterDataPipe,
        IterDataPipe as IterDataPipe,
        MapDataPipe as MapDataPipe,
        argument_validation as argument_validation,
        functional_datapipe as functional_datapipe,
        guaranteed_datapipes_determinism as guaranteed_datapipes_determinism,
        non_deterministic as non_deterministic,
        runtime_validation as runtime_validation,
        runtime_validation_disabled as runtime_validation_disabled,
    )
else:
    _PIPES = {
        "DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe", "argument_validation", "functional_datapipe", "guaranteed_datapipes_determinism", "non_deterministic",
        "runtime_validation", "runtime_validation_disabled",
    }  # fmt: skip

    def __getattr__(name):
        if name == "datapipes":
            return _importlib.import_module("retrograd.utils.data.datapipes")
        if name in _PIPES:
            _importlib.import_module("retrograd.utils.data.datapipes")  # whose steps are the methods of pipes
            return getattr(_importlib.import_module("retrograd.utils.data.datapipes.datapipe"), name)
        from retrograd._missing import missing

        raise missing(__name__, name)

    def __dir__():
        return sorted({*globals(), *_PIPES, "datapipes"})
