"""torch.distributed.rpc: calls to other processes, which there are not."""

from __future__ import annotations

from retrograd._refusals import refused

__all__ = [
    "RRef",
    "TensorPipeRpcBackendOptions",
    "get_worker_info",
    "init_rpc",
    "is_available",
    "remote",
    "rpc_async",
    "rpc_sync",
    "shutdown",
]


def is_available() -> bool:
    """Whether other processes can be called."""
    return False


_NAMES = " ".join(name for name in __all__ if name not in globals())
_WHY = "{name}: calls to other processes are not supported; retrograd computes in one process"
globals().update(refused(__name__, _NAMES, NotImplementedError, _WHY))
