"""Sequences of different lengths in one tensor: padded to the longest, or packed, time step after time step, without padding."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from retrograd import _C
from retrograd._C import Tensor

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence", "pad_sequence",
    "unpack_sequence", "unpad_sequence",
]  # fmt: skip

_ops = _C._ops


class PackedSequence_(NamedTuple):
    """The fields of a PackedSequence."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(PackedSequence_):
    """Sequences without padding: the first elements of all of them, then the second elements of those that have one, and so on.

    Args:
        data: [sum of lengths, *].
        batch_sizes: how many sequences have a first, a second, ... element, on the CPU.
        sorted_indices: which sequence of the user's order stands where in the packed order, longest first; None if it is the same.
        unsorted_indices: the inverse, computed if left out.
    """

    def __new__(
        cls, data: Any, batch_sizes: Tensor | None = None, sorted_indices: Tensor | None = None, unsorted_indices: Tensor | None = None
    ) -> Self:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        elif batch_sizes.device.type != "cpu":
            raise ValueError(
                f"batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually: got {batch_sizes.device}"
            )
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """The same with data on another device or of another dtype; itself where nothing changes."""
        if "copy" in kwargs:
            raise RuntimeError(".to() does not accept copy argument")
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        kwargs = {key: value for key, value in kwargs.items() if key in ("device", "non_blocking")}

        def moved(indices: Tensor | None) -> Tensor | None:
            return None if indices is None else indices.to(data.device, **{k: v for k, v in kwargs.items() if k != "device"})

        return type(self)(data, self.batch_sizes, moved(self.sorted_indices), moved(self.unsorted_indices))

    def pin_memory(self) -> Self:
        """The same in pinned memory."""
        sorted_, unsorted = (None if i is None else i.pin_memory() for i in (self.sorted_indices, self.unsorted_indices))
        return type(self)(self.data.pin_memory(), self.batch_sizes, sorted_, unsorted)

    def cuda(self, *args: Any, **kwargs: Any) -> Self:
        """The same on a CUDA device."""
        return self.to(*args, device=kwargs.pop("device", "cuda"), **kwargs) if not args else self.to(*args, **kwargs)

    def cpu(self, *args: Any, **kwargs: Any) -> Self:
        """The same on the CPU."""
        return self.to(*args, device="cpu", **kwargs)

    def double(self) -> Self:
        """The same in float64."""
        return self.to(dtype=_C.float64)

    def float(self) -> Self:
        """The same in float32."""
        return self.to(dtype=_C.float32)

    def half(self) -> Self:
        """The same in float16."""
        return self.to(dtype=_C.float16)

    def long(self) -> Self:
        """The same in int64."""
        return self.to(dtype=_C.int64)

    def int(self) -> Self:
        """The same in int32."""
        return self.to(dtype=_C.int32)

    def short(self) -> Self:
        """The same in int16."""
        return self.to(dtype=_C.int16)

    def char(self) -> Self:
        """The same in int8."""
        return self.to(dtype=_C.int8)

    def byte(self) -> Self:
        """The same in uint8."""
        return self.to(dtype=_C.uint8)

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a CUDA device."""
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        """Whether the data is in pinned memory."""
        return self.data.is_pinned()


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes one; None of None."""
    if permutation is None:
        return None
    return _ops.empty_like(permutation).scatter_(0, permutation, _ops.arange(permutation.numel(), device=permutation.device))


def _rows(lengths: Tensor, steps: Any, device: Any) -> Tensor:
    """Where the rows of a packed sequence are in a padded one [steps, batch, *] with the first two dimensions flattened."""
    return (_ops.arange(steps).unsqueeze(1) < lengths).flatten().nonzero().squeeze(1).to(device)


def pack_padded_sequence(
    input: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Packs padded sequences.

    Args:
        input: [T, B, *], or [B, T, *] with batch_first.
        lengths: of each sequence.
        enforce_sorted: they must come longest first; otherwise they are sorted, and the result says how.
    """
    sizes = lengths if isinstance(lengths, Tensor) else _C._tensor_from(list(lengths), _C.int64)
    if sizes.dim() != 1 or sizes.device.type != "cpu":
        kind = str(sizes.dtype).rpartition(".")[2].replace("int64", "Long")
        raise RuntimeError(f"'lengths' argument should be a 1D CPU int64 tensor, but got {sizes.dim()}D {sizes.device.type} {kind} tensor")
    if input.dim() < 2:
        last = max(input.dim(), 1) - 1
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-last - 1}, {last}], but got 1): padded sequences have at least two "
            "dimensions, time and batch"
        )
    sizes = sizes.to(_C.int64)
    sorted_indices = None
    if not enforce_sorted:
        sizes, sorted_indices = sizes.sort(descending=True)
        sorted_indices = sorted_indices.to(input.device)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    if batch_first:
        input = input.transpose(0, 1)
    if input.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    steps, batch = input.shape[:2]
    if sizes.size(0) != batch:
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {sizes.size(0)} (batch_size={batch})")
    given = sizes.tolist()
    if min(given) <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    if any(a < b for a, b in itertools.pairwise(given)):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass `enforce_sorted=False` to "
            "pack_padded_sequence and/or pack_sequence to have it sorted."
        )
    if given[0] > steps:  # PyTorch packs the elements there are, and says that there are more
        raise RuntimeError(f"Expected no length to exceed the size of the input, but got {given[0]} for sequences padded to {steps}")
    batch_sizes = (_ops.arange(given[0]).unsqueeze(1) < sizes).sum(1)
    data = input.reshape(steps * batch, *input.shape[2:]).index_select(0, _rows(sizes, steps, input.device))
    return PackedSequence(data, batch_sizes, sorted_indices, None)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """(padded, lengths) of packed sequences, in the order they were packed from.

    Args:
        total_length: pad to this length, not to that of the longest.
    """
    data, batch_sizes, _, unsorted = sequence
    longest, batch = batch_sizes.size(0), int(batch_sizes[0])
    if total_length is not None and total_length < longest:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {longest}"
        )
    steps = longest if total_length is None else total_length
    lengths = (_ops.arange(batch).unsqueeze(1) < batch_sizes).sum(1)
    if data.size(0) != int(batch_sizes.sum()):
        raise RuntimeError(f"Expected as many elements as batch_sizes say, but got {data.size(0)} and {int(batch_sizes.sum())}")
    empty = _ops.full((steps * batch, *data.shape[1:]), padding_value, dtype=data.dtype, device=data.device)
    padded = empty.index_copy(0, _rows(lengths, steps, data.device), data).reshape(steps, batch, *data.shape[1:])
    if batch_first:
        padded = padded.transpose(0, 1)
    if unsorted is not None:
        padded = padded.index_select(0 if batch_first else 1, unsorted)
        lengths = lengths[unsorted.cpu()]
    return padded, lengths


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
    out = _ops.full(shape + tuple(first.shape[1:]), padding_value, dtype=first.dtype, device=first.device)
    for i, sequence in enumerate(sequences):
        length = sequence.size(0)
        span = slice(longest - length, longest) if padding_side == "left" else slice(0, length)
        out[(i, span) if batch_first else (span, i)] = sequence
    return out


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences that pad_sequence() stacked, given their lengths."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [
        sequence[: int(length)].clone(memory_format=_C.contiguous_format)
        for sequence, length in zip(padded_sequences, lengths, strict=True)
    ]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs sequences [L_i, *]; longest first, or in any order without enforce_sorted."""
    lengths = [sequence.size(0) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences that pack_sequence() packed."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
