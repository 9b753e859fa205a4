"""NVIDIA's library between devices, which needs a CUDA build."""

from __future__ import annotations

from typing import Any

from retrograd._refusals import refused


def is_available(tensors: Any = None) -> bool:
    """Whether it can be used."""
    return False


_WHY = "{name}: Torch not compiled with CUDA enabled: this build of retrograd computes on the CPU"
globals().update(
    refused(__name__, "version unique_id init_rank all_reduce reduce broadcast all_gather reduce_scatter", AssertionError, _WHY)
)
