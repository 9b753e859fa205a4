"""What can be asked about a tensor: functions of the top-level namespace that are no ops."""

from __future__ import annotations

from retrograd._C import Tensor
from retrograd._overridable import overridable

__all__ = [
    "is_complex", "is_conj", "is_floating_point", "is_inference", "is_neg", "is_nonzero", "is_same_size", "is_signed", "numel",
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
