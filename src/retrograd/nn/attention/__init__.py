"""Which ways of computing attention are open."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator

from retrograd._ops.nn.attention import ways

__all__ = ["WARN_FOR_UNFUSED_KERNELS", "SDPBackend", "sdpa_kernel"]

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(enum.Enum):
    """Ways to compute attention. Here there are two: in tiles (FLASH_ATTENTION), and in ordinary ops (MATH)."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends: list[SDPBackend] | SDPBackend, set_priority: bool = False) -> Iterator[dict[str, bool]]:
    """Leaves scaled_dot_product_attention these ways alone, inside the block.

    Args:
        set_priority: taken and ignored: of what is left, tiles come before ordinary ops.
    """
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError(f"Backend must be an instance of SDPBackend or a list of SDPBackend instances, got {type(backends).__name__}")
    chosen = [backends] if isinstance(backends, SDPBackend) else backends
    before = dict(ways)
    ways["tiles"], ways["ops"] = SDPBackend.FLASH_ATTENTION in chosen, SDPBackend.MATH in chosen
    try:
        yield {}
    finally:
        ways.update(before)
