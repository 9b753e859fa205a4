"""How linear_cross_entropy divides its work."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from retrograd import _C

__all__ = ["LinearCrossEntropyOptions"]

_SUMS = (None, _C.float16, _C.bfloat16, _C.float32, _C.float64)


@dataclass(frozen=True, slots=True)
class LinearCrossEntropyOptions:
    """Asks linear_cross_entropy to compute logits some rows at a time.

    Args:
        allow_retain_graph: accepted for PyTorch's sake; the graph may always be retained and differentiated again.
        batch_chunk_size: how many rows at a time.
        chunking_method: how to choose that number: "aspect_ratio:r", so that the logits at hand are about r times as large as the input, "auto",
            which is r = 2, or None, all rows.
        acc_policy: "accurate" sums the losses and gradients of 16-bit floats in float32; "balanced", "compact" and "auto" in their own dtype.
        acc_dtype: the dtype of these sums.
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: Literal["accurate", "balanced", "compact", "auto"] = "auto"
    acc_dtype: _C.dtype | None = None

    def __post_init__(self) -> None:
        size = self.batch_chunk_size
        if size is not None and (not isinstance(size, int) or size <= 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size}")
        if self.chunking_method not in (None, "auto") and self._ratio() is None:
            raise ValueError(f"invalid chunking_method: {self.chunking_method!r}")
        if self.acc_policy not in ("accurate", "balanced", "compact", "auto"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        if not any(self.acc_dtype is dtype for dtype in _SUMS):
            names = ", ".join(str(dtype) for dtype in _SUMS)
            raise ValueError(
                f"acc_dtype must be one of {{{names}}}, got {self.acc_dtype!r}. Pass acc_dtype=None to let the op pick automatically."
            )

    def _ratio(self) -> int | None:
        found = re.fullmatch(r"aspect_ratio:([1-9]\d*)", self.chunking_method) if isinstance(self.chunking_method, str) else None
        return int(found[1]) if found else None

    def _rows_at_once(self, rows: int, in_features: int, logits: int) -> int:
        """Of `rows` of in_features, which become `logits` each."""
        if self.batch_chunk_size is not None:
            return self.batch_chunk_size
        if self.chunking_method is None:
            return max(rows, 1)
        wanted = (self._ratio() or 2) * max(in_features, 1)
        chunks = -(-max(logits, 1) // wanted)
        return max(-(-rows // chunks), 1)

    def _dtype_of_sums(self, dtype: _C.dtype) -> _C.dtype | None:
        """Another than that of the input, or None."""
        chosen = self.acc_dtype
        if chosen is None and self.acc_policy == "accurate" and dtype in (_C.float16, _C.bfloat16):
            chosen = _C.float32
        return None if chosen is dtype else chosen
