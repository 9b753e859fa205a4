"""torch.nested: tensors of different sizes as one. They are made, taken apart, padded and computed with element by element; the rest is refused in words."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import retrograd as torch
from retrograd import Tensor
from retrograd.nested.tensor import NestedTensor, nested

__all__ = ["as_nested_tensor", "masked_select", "narrow", "nested_tensor", "nested_tensor_from_jagged", "to_padded_tensor"]


def nested_tensor(
    tensor_list: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A nested tensor, a leaf, of copies of these tensors or lists of numbers."""
    if not isinstance(tensor_list, (list, tuple)):
        raise TypeError("Only lists (List[Tensor] and List[List...[Scalar]]) are accepted in nested_tensor")
    first = next((item.dtype for item in tensor_list if isinstance(item, Tensor)), None)
    parts = [
        item.detach().clone().to(device=device, dtype=dtype or first)
        if isinstance(item, Tensor)
        else torch.tensor(item, dtype=dtype or first, device=device)
        for item in tensor_list
    ]
    return nested([part.requires_grad_(requires_grad) for part in parts], layout)


def as_nested_tensor(ts: Any, dtype: Any = None, device: Any = None, layout: Any = None) -> Tensor:
    """A nested tensor of these tensors, with their histories; of one tensor, of its parts along the first dimension."""
    if isinstance(ts, NestedTensor):
        return ts.to(device=device, dtype=dtype or ts.dtype)
    if not isinstance(ts, (Tensor, list, tuple)):
        raise TypeError("as_nested_tensor(): Expected first argument to be a tensor or a list / tuple of tensors ")
    parts = list(ts.unbind()) if isinstance(ts, Tensor) else [item if isinstance(item, Tensor) else torch.tensor(item) for item in ts]
    return nested([part.to(device=device, dtype=dtype or parts[0].dtype) for part in parts], layout)


def nested_tensor_from_jagged(
    values: Tensor, offsets: Tensor | None = None, lengths: Tensor | None = None, jagged_dim: int | None = None, **options: Any
) -> Tensor:
    """A jagged nested tensor of rows of `values`: part i begins at offsets[i]."""
    if jagged_dim not in (None, 1):
        raise NotImplementedError(f"nested_tensor_from_jagged: jagged_dim={jagged_dim} is not supported, only 1")
    if offsets is None and lengths is None:
        raise RuntimeError("nested_tensor_from_jagged(): At least one of offsets or lengths is required.")
    if offsets is None:
        assert lengths is not None
        return nested(list(values.split(lengths.tolist())), torch.jagged)
    starts = offsets.tolist()
    sizes = lengths.tolist() if lengths is not None else [end - start for start, end in itertools.pairwise(starts)]
    return nested([values.narrow(0, start, size) for start, size in zip(starts, sizes, strict=False)], torch.jagged)


def masked_select(tensor: Tensor, mask: Tensor) -> Tensor:
    """A jagged nested tensor of what a mask picks of each row."""
    if tensor.dim() != 2:
        raise NotImplementedError("torch.nested.masked_select: only tensors of two dimensions are supported")
    mask = mask.expand(tensor.shape)
    return nested([row[picked] for row, picked in zip(tensor.unbind(), mask.unbind(), strict=True)], torch.jagged)


def narrow(tensor: Tensor, dim: int, start: int | Tensor, length: int | Tensor, layout: Any = torch.strided) -> Tensor:
    """A nested tensor of a part of each row: start[i] and length[i] along dimension 1."""
    if dim != 1:
        raise RuntimeError("Nested narrow only supports dim=1.")
    count = tensor.size(0)
    starts = start.tolist() if isinstance(start, Tensor) else [start] * count
    lengths = length.tolist() if isinstance(length, Tensor) else [length] * count
    return nested([row.narrow(0, s, n) for row, s, n in zip(tensor.unbind(), starts, lengths, strict=True)], layout)


def to_padded_tensor(input: Tensor, padding: float, output_size: Sequence[int] | None = None, out: Any = None) -> Tensor:
    """One ordinary tensor, with `padding` where parts end."""
    return input.to_padded_tensor(padding, output_size)  # type: ignore[attr-defined, no-any-return, unused-ignore]
