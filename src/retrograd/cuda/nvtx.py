"""Marks for NVIDIA's profiler, which needs a CUDA build."""

# ruff: noqa: F822 - refused() makes some of these names

from __future__ import annotations

from retrograd._refusals import refused

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]

_WHY = "NVTX functions not installed. Are you sure you have a CUDA build?"
globals().update(refused(__name__, " ".join(__all__), RuntimeError, _WHY))
