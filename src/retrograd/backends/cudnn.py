"""torch.backends.cudnn: not there. Its settings are kept: programs set them before they know the machine."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any

import retrograd as torch
from retrograd.backends._flags import changed

__all__ = ["CUDNN_TENSOR_DTYPES", "flags", "is_acceptable", "is_available", "set_flags", "version"]

CUDNN_TENSOR_DTYPES = {torch.half, torch.float, torch.double}
enabled: bool = True
benchmark: bool = False
benchmark_limit: int | None = None
deterministic: bool = False
allow_tf32: bool = True
fp32_precision: str = "none"
conv = SimpleNamespace(fp32_precision="tf32")
rnn = SimpleNamespace(fp32_precision="tf32")


def is_available() -> bool:
    """Whether cuDNN can be used."""
    return False


def version() -> int | None:
    """The version of cuDNN."""
    return None


def is_acceptable(tensor: torch.Tensor) -> bool:
    """Whether cuDNN can compute with a tensor."""
    return False


def set_flags(
    _enabled: bool | None = None,
    _benchmark: bool | None = None,
    _benchmark_limit: int | None = None,
    _deterministic: bool | None = None,
    _allow_tf32: bool | None = None,
    _fp32_precision: str | None = None,
) -> tuple[Any, ...]:
    """Sets what is given, and returns what was."""
    values = {"enabled": _enabled, "benchmark": _benchmark, "benchmark_limit": _benchmark_limit, "deterministic": _deterministic, "allow_tf32": _allow_tf32,
                  "fp32_precision": _fp32_precision}  # fmt: skip
    before = tuple(globals()[name] for name in values)
    globals().update({name: value for name, value in values.items() if value is not None})
    return before


def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int | None = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
) -> contextlib.AbstractContextManager[None]:
    """Sets all for a block."""
    return changed(__name__, {"enabled": enabled, "benchmark": benchmark, "benchmark_limit": benchmark_limit, "deterministic": deterministic,
                                  "allow_tf32": allow_tf32, "fp32_precision": fp32_precision})  # fmt: skip
