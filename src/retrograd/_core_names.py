"""Names of torch._C that libraries read, beside those of the core itself: what they say of an eager library on the CPU."""

from __future__ import annotations

from typing import Any

from retrograd import _C
from retrograd._refusals import refused


def _get_accelerator(check: bool | None = None) -> Any:
    """The device beside the CPU; the CPU where there is none."""
    return _C.device("cpu")


def _log_api_usage_once(event: str) -> None:
    """Counts nothing."""


def _are_functorch_transforms_active() -> bool:
    """Whether grad, vmap or another transform runs."""
    return _C._in_transform()


def _get_tracing_state() -> None:
    """What a tracer has seen so far: there is none."""


def _is_tracing() -> bool:
    """Whether a tracer runs."""
    return False


def _get_privateuse1_backend_name() -> str:
    """The name of a device that others bring."""
    return "privateuseone"


def _has_mps() -> bool:
    return False


_has_cuda = _has_mkldnn = False
TensorBase = _TensorBase = _C.Tensor
_TensorMeta = type(_C.Tensor)
_WHY = "{name}: TorchScript's classes are for isinstance(); nothing here is compiled"
globals().update(
    refused(
        __name__.rpartition(".")[0] + "._C",
        "Value Graph Block Node CompilationUnit ScriptObject ScriptMethod TensorType",
        NotImplementedError,
        _WHY,
    )
)


class _nn:
    """torch._C._nn, of which libraries use the one function that reads the arguments of Module.to()."""

    @staticmethod
    def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
        """(device, dtype, non_blocking, memory_format)"""
        from retrograd.nn.modules.module import _parse_to

        non_blocking = bool(kwargs.get("non_blocking", next((a for a in args if isinstance(a, bool)), False)))
        device, dtype, memory_format = _parse_to(*args, **kwargs)
        return device, dtype, non_blocking, memory_format
