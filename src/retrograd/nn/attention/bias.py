"""Masks that let queries attend to what is before them, without the memory of a mask where there is a way without."""

from __future__ import annotations

import enum
import warnings
from typing import Any

from retrograd import _C
from retrograd._C import Tensor

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(enum.IntEnum):
    """Where the diagonal begins, which matters if there are more keys than queries or fewer: at the first of both, or so that it ends at the last of both."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """An attn_mask for scaled_dot_product_attention, and for nothing else."""

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        self.variant, self.seq_len_q, self.seq_len_kv = variant, seq_len_q, seq_len_kv
        if variant is CausalVariant.LOWER_RIGHT and seq_len_q > seq_len_kv:
            warnings.warn(
                "Lower right causal bias will produce NaNs in the output when seq_len_q > seq_len_kv! Here it is zeros: the first queries see no key.",
                stacklevel=3,
            )

    def _materialize(self, device: Any = None) -> Tensor:
        """The mask."""
        diagonal = self.seq_len_kv - self.seq_len_q if self.variant is CausalVariant.LOWER_RIGHT else 0
        mask: Tensor = _C._ops.ones((self.seq_len_q, self.seq_len_kv), dtype=_C.bool, device=device)
        return mask.tril(diagonal)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        from retrograd.nn.functional import scaled_dot_product_attention

        if func is scaled_dot_product_attention:
            return cls._attend(*args, **(kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs or {})

    @staticmethod
    def _attend(
        query: Tensor, key: Tensor, value: Tensor, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False, **options: Any
    ) -> Tensor:
        from retrograd.nn.functional import scaled_dot_product_attention

        if is_causal:
            raise ValueError("CausalBias should not be used with causal=True")
        from_first = attn_mask.variant is CausalVariant.UPPER_LEFT or attn_mask.seq_len_q == attn_mask.seq_len_kv
        mask = None if from_first else attn_mask._materialize(query.device)
        return scaled_dot_product_attention(query, key, value, mask, dropout_p, from_first, **options)

    def __repr__(self, *args: Any, **kwargs: Any) -> str:  # type: ignore[override]
        return repr(self._materialize())


def _sizes(name: str, size: tuple[int, ...]) -> tuple[int, int]:
    if len(size) != 2:
        raise AssertionError(f"{name} only supports 2D tensors, got {len(size)} sizes")
    return size[0], size[1]


def causal_upper_left(*size: int) -> CausalBias:
    """A query attends to keys up to its own number. Takes the numbers of queries and of keys."""
    return CausalBias(CausalVariant.UPPER_LEFT, *_sizes("causal_upper_left", size))


def causal_lower_right(*size: int) -> CausalBias:
    """The last query attends to all keys, the one before to all but the last, and so on. Takes the numbers of queries and of keys."""
    return CausalBias(CausalVariant.LOWER_RIGHT, *_sizes("causal_lower_right", size))
