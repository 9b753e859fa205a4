"""What can be asked about a tensor, and other functions of the top-level namespace that are no ops."""

from __future__ import annotations

from retrograd._C import Tensor
from retrograd._overridable import overridable

__all__ = [
    "detach_", "get_device", "is_complex", "is_conj", "is_distributed", "is_floating_point", "is_inference", "is_neg", "is_nonzero", "is_same_size", "is_signed", "numel", "slice_inverse",
]  # fmt: skip


@overridable
def numel(input: Tensor) -> int:
    """The number of elements."""
    return input.numel()


@overridable
def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is a floating point one."""
    return input.is_floating_point()


@overridable
def is_complex(input: Tensor) -> bool:
    """Whether the dtype is complex."""
    return input.is_complex()


@overridable
def is_signed(input: Tensor) -> bool:
    """Whether the dtype is signed."""
    return input.is_signed()


@overridable
def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode."""
    return input.is_inference()


@overridable
def is_conj(input: Tensor) -> bool:
    """Whether the elements are the conjugates of what is in memory: `conj()` is lazy."""
    return input.is_conj()


@overridable
def is_neg(input: Tensor) -> bool:
    """Whether the elements are the negatives of what is in memory, as those of `x.conj().imag`."""
    return input.is_neg()


@overridable
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same sizes."""
    return input.shape == other.shape


@overridable
def is_nonzero(input: Tensor) -> bool:
    """Whether a tensor of one element is not zero."""
    if input.numel() != 1:
        raise RuntimeError(f"Boolean value of Tensor with {'no values' if input.numel() == 0 else 'more than one value'} is ambiguous")
    return bool(input)


@overridable
def is_distributed(input: Tensor) -> bool:
    """Always False."""
    return False


@overridable
def get_device(input: Tensor) -> int:
    """The number of the tensor's device; -1 for the CPU, which has none."""
    return input.get_device()


@overridable
def detach_(input: Tensor) -> Tensor:
    """Cuts the history of the tensor in place."""
    return input.detach_()


@overridable
def slice_inverse(input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    """The tensor that input is a slice of: its memory, laid out as that of src."""
    return input.slice_inverse(src, dim, start, end, step)
