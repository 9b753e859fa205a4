"""Sequences of different lengths in one tensor."""

from __future__ import annotations

from collections.abc import Sequence

from retrograd import _C
from retrograd._C import Tensor

__all__ = ["pad_sequence", "unpad_sequence"]


def pad_sequence(
    sequences: Tensor | Sequence[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Stacks sequences [L_i, *] into [max L, B, *], filled up with padding_value.

    Args:
        batch_first: give [B, max L, *].
        padding_side: "right" or "left".
    """
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    elif not hasattr(sequences, "__iter__"):
        raise RuntimeError("pad_sequence: Expected iterable for input sequences, but got arg of type: " + str(type(sequences)))
    sequences = tuple(sequences)
    for i, sequence in enumerate(sequences):
        if not isinstance(sequence, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(sequence).__name__}")
        if sequence.dim() == 0:
            raise RuntimeError(f"pad_sequence: element {i} is a number; a sequence has at least one dimension")
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    longest = max(s.size(0) for s in sequences)
    first = sequences[0]
    shape = (len(sequences), longest) if batch_first else (longest, len(sequences))
    out = _C._ops.full(shape + tuple(first.shape[1:]), padding_value, dtype=first.dtype, device=first.device)
    for i, sequence in enumerate(sequences):
        length = sequence.size(0)
        span = slice(longest - length, longest) if padding_side == "left" else slice(0, length)
        out[(i, span) if batch_first else (span, i)] = sequence
    return out


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences that pad_sequence() stacked, given their lengths."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [sequence[: int(length)] for sequence, length in zip(padded_sequences, lengths, strict=True)]
