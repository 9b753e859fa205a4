"""torch.distributed.checkpoint: files that several processes write. One process has torch.save(); these are refused, but for state_dict."""

from __future__ import annotations

import importlib as _importlib
from typing import Any

from retrograd._refusals import refused

_NAMES = """
    BytesStorageMetadata CheckpointException ChunkStorageMetadata DefaultLoadPlanner DefaultSavePlanner FileSystemReader FileSystemWriter LoadPlan
    LoadPlanner Metadata ReadItem SavePlan SavePlanner StorageReader StorageWriter TensorStorageMetadata WriteItem async_save load load_state_dict save
    save_state_dict
"""
_WHY = "{name}: files that several processes write are not supported; torch.save() and torch.load() do for the one there is"
__all__ = sorted(_NAMES.split())
globals().update(refused(__name__, _NAMES, NotImplementedError, _WHY))


def __getattr__(name: str) -> Any:
    if name in ("default_planner", "filesystem", "state_dict", "stateful"):
        return _importlib.import_module(f"{__name__}.{name}")
    from retrograd._missing import missing

    raise missing(__name__, name)
