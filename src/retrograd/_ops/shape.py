"""Shape functions that take any number of tensors, and others that are not on a hot path."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import retrograd
from retrograd import _C
from retrograd._C import Tensor

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_shapes",
    "broadcast_tensors",
    "cartesian_prod",
    "combinations",
    "meshgrid",
    "resize",
    "resize_as",
    "vander",
]


def _listed(tensors: tuple[Any, ...]) -> tuple[Tensor, ...]:
    """Tensors given one by one, or as a single list or tuple."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        return tuple(tensors[0])
    return tensors


def broadcast_shapes(*shapes: Any) -> Any:
    """The shape that tensors of these shapes broadcast to.

    >>> retrograd.broadcast_shapes((3, 1), (4,))
    torch.Size([3, 4])
    """
    out: list[int] = []
    for at, shape in enumerate(shapes):
        if not hasattr(shape, "__index__") and not hasattr(shape, "__len__"):
            raise RuntimeError(f"Input shapes should be of type ints, a tuple of ints, or a list of ints, got {shape}")
        sizes = list(shape) if hasattr(shape, "__len__") else [shape]
        out = [1] * (len(sizes) - len(out)) + out
        for d in range(-1, -len(sizes) - 1, -1):
            size = sizes[d]
            if size in (1, out[d]):
                continue
            if out[d] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {size} at {d}! Mismatching argument at index {at} had {shape}; but "
                    f"expected shape should be broadcastable to {out}"
                )
            if size < 0:
                raise ValueError("Attempting to broadcast a dimension with negative length!")
            out[d] = size
    return retrograd.Size(out)


def resize(self: Tensor, *sizes: Any) -> Tensor:
    """A reshaped tensor of as many elements; kept for old programs. Use `reshape`, or `resize_` to change the number of elements."""
    warnings.warn("non-inplace resize is deprecated", stacklevel=2)
    return self.contiguous().view(*sizes)


def resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """`resize` to the size of another tensor; kept for old programs."""
    warnings.warn("non-inplace resize_as is deprecated", stacklevel=2)
    return self.contiguous().view(tensor.size())


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Expand all tensors to the shape they broadcast to.

    >>> a, b = retrograd.broadcast_tensors(retrograd.zeros(3, 1), retrograd.zeros(4))
    >>> a.shape == b.shape == (3, 4)
    True
    """
    return _C._ops._broadcast_tensors(_listed(tensors))


def block_diag(*tensors: Tensor) -> Tensor:
    """Make a block diagonal matrix of matrices; vectors count as rows, 0-d tensors as 1 x 1 blocks.

    >>> retrograd.block_diag(retrograd.ones(1, 2), retrograd.ones(2, 1)).shape
    torch.Size([3, 3])
    """
    return _C._ops._block_diag(tensors)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Spread vectors over the grid that they span: one tensor per vector, each of the shape of the grid.

    Args:
        indexing: "ij" lets the i-th vector run along dimension i, "xy" swaps the first two (as graphics do).

    >>> x, y = retrograd.meshgrid(retrograd.arange(2), retrograd.arange(3), indexing="ij")
    >>> x.shape
    torch.Size([2, 3])
    """
    if indexing is None:
        warnings.warn("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.", stacklevel=2)
    return _C._ops._meshgrid(_listed(tensors), indexing or "ij")


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """List all combinations of one element of each vector, in the order of `itertools.product`.

    >>> retrograd.cartesian_prod(retrograd.tensor([1, 2]), retrograd.tensor([3, 4])).tolist()
    [[1, 3], [1, 4], [2, 3], [2, 4]]
    """
    vectors = _listed(tensors)
    for v in vectors:
        if v.dim() != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(v.shape)}")
    if len(vectors) == 1:
        return vectors[0]
    return retrograd.stack([g.flatten() for g in _C._ops._meshgrid(vectors, "ij")], dim=1)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """List the r-element combinations of a vector's elements, in the order of `itertools.combinations`.

    >>> retrograd.combinations(retrograd.tensor([1, 2, 3])).tolist()
    [[1, 2], [1, 3], [2, 3]]
    """
    if input.dim() != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return input.new_empty(0)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    chosen = retrograd.tensor(list(choose(range(input.numel()), r)), dtype=_C.int64, device=input.device).view(-1, r)
    return retrograd.stack([input[column] for column in chosen.unbind(1)], dim=1)


def _atleast(n: int, tensors: tuple[Any, ...]) -> Any:
    if len(tensors) == 1 and not isinstance(tensors[0], (list, tuple)):
        enough = isinstance(tensors[0], _C.Tensor) and tensors[0].ndim >= n
        return tensors[0] if enough else _C._ops._atleast(tensors, n)[0]
    return _C._ops._atleast(_listed(tensors), n)


def atleast_1d(*tensors: Any) -> Any:
    """Turn 0-d tensors into vectors; others are returned as they are.

    >>> retrograd.atleast_1d(retrograd.tensor(1.0)).shape
    torch.Size([1])
    """
    return _atleast(1, tensors)


def atleast_2d(*tensors: Any) -> Any:
    """Add leading dimensions up to two.

    >>> retrograd.atleast_2d(retrograd.zeros(3)).shape
    torch.Size([1, 3])
    """
    return _atleast(2, tensors)


def atleast_3d(*tensors: Any) -> Any:
    """Add dimensions up to three: a vector becomes 1 x n x 1, a matrix m x n x 1.

    >>> retrograd.atleast_3d(retrograd.zeros(3)).shape
    torch.Size([1, 3, 1])
    """
    return _atleast(3, tensors)


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of a vector's elements, N - 1 down to 0, in columns."""
    if x.dim() != 1:
        raise RuntimeError(f"x must be a one-dimensional tensor. Got shape {list(x.shape)}.")
    count = x.size(0) if N is None else N
    if count < 0:
        raise RuntimeError(f"N must be non-negative. Got {count}.")
    base = x if x.is_floating_point() or x.is_complex() else x.long()
    if count == 0:
        return base.new_empty(x.size(0), 0)
    powers = retrograd.constant_pad_nd(base.unsqueeze(1).expand(-1, count - 1), (1, 0), 1).cumprod(1)
    return powers if increasing else powers.flip(1)
