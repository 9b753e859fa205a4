"""torch.backends: what the libraries behind PyTorch may do. Here there is one, the package's own kernels: questions about others are answered, and their
settings are kept for whoever asks for them."""

import importlib as _importlib
import typing as _typing

if _typing.TYPE_CHECKING:
    from retrograd.backends import (
        cpu as cpu,
        cuda as cuda,
        cudnn as cudnn,
        mha as mha,
        mkl as mkl,
        mkldnn as mkldnn,
        mps as mps,
        openmp as openmp,
        opt_einsum as opt_einsum,
        quantized as quantized,
    )

_MODULES = (
    "cpu",
    "cuda",
    "cudnn",
    "cusparselt",
    "kleidiai",
    "mha",
    "miopen",
    "mkl",
    "mkldnn",
    "mps",
    "nnpack",
    "openmp",
    "opt_einsum",
    "quantized",
    "xnnpack",
)

fp32_precision = "none"


_frozen = False


def flags_frozen() -> bool:
    """Whether disable_global_flags() was called."""
    return _frozen


def disable_global_flags() -> None:
    """Says that settings are for blocks alone from now on: noted, and not enforced."""
    global _frozen
    _frozen = True


def __getattr__(name: str) -> _typing.Any:
    if name in _MODULES:
        return _importlib.import_module(f"{__name__}.{name}")
    from retrograd._missing import missing

    raise missing(__name__, name)


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if not name.startswith("_")), *_MODULES})
