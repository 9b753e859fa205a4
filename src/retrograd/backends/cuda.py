"""torch.backends.cuda: not there. What may be used of attention is kept for sdp_kernel() and its questions; it is computed the same way."""

# ruff: noqa: F822 - refused() makes some of these names

from __future__ import annotations

import contextlib
import enum
import warnings
from collections.abc import Iterator
from typing import Any, ClassVar

import retrograd as torch
from retrograd._ops.nn.attention import ways
from retrograd._refusals import refused

__all__ = [
    "SDPAParams", "allow_fp16_bf16_reduction_math_sdp", "can_use_cudnn_attention", "can_use_efficient_attention", "can_use_flash_attention",
    "cuBLASModule", "cuFFTPlanCache", "cuFFTPlanCacheManager", "cudnn_sdp_enabled", "cufft_plan_cache", "enable_cudnn_sdp", "enable_flash_sdp",
    "enable_math_sdp", "enable_mem_efficient_sdp", "flash_sdp_enabled", "fp16_bf16_reduction_math_sdp_allowed", "is_built", "is_ck_sdpa_available",
    "is_flash_attention_available", "math_sdp_enabled", "matmul", "mem_efficient_sdp_enabled", "preferred_blas_library", "preferred_linalg_library",
    "preferred_rocm_fa_library", "sdp_kernel",
]  # fmt: skip

globals().update(refused(__name__, "SDPAParams", RuntimeError, "Torch not compiled with CUDA enabled"))


def is_built() -> bool:
    """Whether the library was built with CUDA."""
    return False


class cuBLASModule:
    """How precisely matrices are multiplied: kept, and not read by the CPU."""

    _kept: ClassVar[dict[str, bool]] = {
        "allow_fp16_reduced_precision_reduction": True,
        "allow_bf16_reduced_precision_reduction": True,
        "allow_fp16_accumulation": False,
    }

    def __getattr__(self, name: str) -> Any:
        if name == "allow_tf32":
            return torch.get_float32_matmul_precision() != "highest"
        if name == "fp32_precision":
            return "none" if torch.get_float32_matmul_precision() == "highest" else "tf32"
        if name in self._kept:
            return self._kept[name]
        raise AttributeError("Unknown attribute " + name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("allow_tf32", "fp32_precision"):
            torch.set_float32_matmul_precision("high" if value in (True, "tf32") else "highest")
        elif name in self._kept:
            self._kept[name] = value
        else:
            raise AttributeError("Unknown attribute " + name)


class cuFFTPlanCache:
    """The plans of a device, of which there is none."""

    def __init__(self, device_index: int) -> None:
        self.device_index = device_index

    @property
    def size(self) -> int:
        raise AssertionError("Torch not compiled with CUDA enabled: this build of retrograd computes on the CPU")

    max_size = size

    def clear(self) -> None:
        """Forgets the plans."""
        raise AssertionError("Torch not compiled with CUDA enabled: this build of retrograd computes on the CPU")


class cuFFTPlanCacheManager(cuFFTPlanCache):
    """The plans of all devices."""

    def __init__(self) -> None:
        super().__init__(-1)

    def __getitem__(self, device: Any) -> cuFFTPlanCache:
        raise RuntimeError("cufft_plan_cache: expected 0 <= device index < 0, and there is no device")


matmul = cuBLASModule()
cufft_plan_cache = cuFFTPlanCacheManager()


class _Library(enum.Enum):
    Default = 0


def preferred_linalg_library(backend: Any = None) -> Any:
    """Which library computes linear algebra on a device."""
    return _Library.Default


def preferred_blas_library(backend: Any = None) -> Any:
    """Which library multiplies matrices on a device."""
    return _Library.Default


def preferred_rocm_fa_library(backend: Any = None) -> Any:
    """Which library computes attention on AMD's devices."""
    return _Library.Default


# -- attention ---------------------------------------------------------------------

# The ways that there are, tiles and single ops, go by `ways`; the others are kept.
_allowed = {"mem_efficient": True, "cudnn": True, "reduction": False}


def flash_sdp_enabled() -> bool:
    """Whether flash attention may be used."""
    return ways["tiles"]


def enable_flash_sdp(enabled: bool) -> None:
    """Allows flash attention."""
    ways["tiles"] = enabled


def mem_efficient_sdp_enabled() -> bool:
    """Whether memory-efficient attention may be used."""
    return _allowed["mem_efficient"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Allows memory-efficient attention."""
    _allowed["mem_efficient"] = enabled


def math_sdp_enabled() -> bool:
    """Whether attention may be computed by single ops."""
    return ways["ops"]


def enable_math_sdp(enabled: bool) -> None:
    """Allows attention by single ops."""
    ways["ops"] = enabled


def cudnn_sdp_enabled() -> bool:
    """Whether cuDNN's attention may be used."""
    return _allowed["cudnn"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Allows cuDNN's attention."""
    _allowed["cudnn"] = enabled


def fp16_bf16_reduction_math_sdp_allowed() -> bool:
    """Whether sums in attention by single ops may be rounded to 16 bits."""
    return _allowed["reduction"]


def allow_fp16_bf16_reduction_math_sdp(enabled: bool) -> None:
    """Allows such sums."""
    _allowed["reduction"] = enabled


def is_flash_attention_available() -> bool:
    """Whether there is flash attention for CUDA."""
    return False


def is_ck_sdpa_available() -> bool:
    """Whether there is attention for AMD's devices."""
    return False


def can_use_flash_attention(params: Any, debug: bool = False) -> bool:
    """Whether flash attention can compute this."""
    return False


def can_use_efficient_attention(params: Any, debug: bool = False) -> bool:
    """Whether memory-efficient attention can compute this."""
    return False


def can_use_cudnn_attention(params: Any, debug: bool = False) -> bool:
    """Whether cuDNN can compute this."""
    return False


@contextlib.contextmanager
def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
) -> Iterator[None]:
    """Allows kinds of attention for a block."""
    text = "`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager will be removed. Please see `torch.nn.attention.sdpa_kernel()`"
    warnings.warn(text, FutureWarning, stacklevel=3)
    before = dict(_allowed), dict(ways)
    _allowed.update(mem_efficient=enable_mem_efficient, cudnn=enable_cudnn)
    ways.update(tiles=enable_flash, ops=enable_math)
    try:
        yield
    finally:
        _allowed.update(before[0])
        ways.update(before[1])
