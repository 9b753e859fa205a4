"""Products over chosen dimensions, of more than two tensors, and powers of matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import retrograd as torch
from retrograd import _C, Tensor
from retrograd._batched import whole
from retrograd._ops.linalg.systems import inv
from retrograd._ops.out import castable, dtype_title, written
from retrograd._overridable import autocast

_TENSORDOT = "tensordot: Expected the output tensor to have dtype {result}, but got an output tensor with dtype {out}"
_MULTI_DOT = "multi_dot(): expected out tensor to have dtype {result_cpp} but got {out_cpp}"
_POWER = castable("matrix_power")


def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sum of products over the last dimension of both; a scalar multiplies."""
    if input.dim() == 0 or other.dim() == 0:
        return written(input * other, out, None)
    if input.size(-1) != other.size(-1):
        raise RuntimeError(
            f"inner() the last dimension must match on both input tensors but got shapes {list(input.shape)} and {list(other.shape)}"
        )
    if input.dim() == other.dim() == 1:
        return written(torch.dot(input, other), out, _TENSORDOT)
    if other.dim() <= 2 and out is None and input.dtype == other.dtype:
        return torch.matmul(input, other.t())
    return tensordot(input, other, ([-1], [-1]), out=out)


def tensordot(a: Tensor, b: Tensor, dims: int | Sequence[int | Sequence[int]] | Tensor = 2, out: Tensor | None = None) -> Tensor:
    """Sum of products over the last `dims` dimensions of a and the first of b, or over two lists of dimensions."""
    if isinstance(dims, torch.Tensor):
        dims = dims.tolist() if dims.numel() > 1 else int(dims.item())
    if not isinstance(dims, int):
        dims_a, dims_b = ([d] if isinstance(d, int) else list(d) for d in dims)
    else:
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        dims_a, dims_b = list(range(-dims, 0)), list(range(dims))
    return written(_C._ops._tensordot(a, b, dims_a, dims_b), out, _TENSORDOT)


def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """The product of two or more matrices, in the order that takes the fewest multiplications. The first and last may be vectors."""
    return written(_C._ops._multi_dot(tensors), out, _MULTI_DOT)


def chain_matmul(*matrices: Any, out: Tensor | None = None) -> Tensor:
    """multi_dot() of the arguments."""
    if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)):
        matrices = tuple(matrices[0])
    if len(matrices) == 1:
        return written(matrices[0].clone(), out, None)
    return multi_dot(matrices, out=out)


def matrix_power(input: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """A square matrix (or a batch of them) to an integer power; negative ones of the inverse."""
    if input.dim() < 2:
        raise RuntimeError(f"linalg.matrix_power: The input tensor A must have at least 2 dimensions. Got shape {list(input.shape)}.")
    if input.size(-1) != input.size(-2):
        raise RuntimeError(
            f"linalg.matrix_power: A must be batches of square matrices, but they are {input.size(-2)} by {input.size(-1)} matrices"
        )
    if n == 0:
        identity = torch.eye(input.size(-1), dtype=input.dtype, device=input.device)
        return written(input.clone(memory_format=torch.contiguous_format).copy_(identity), out, None, cast=_POWER)
    if n == 1:
        return written(input.clone(memory_format=torch.contiguous_format), out, None, cast=_POWER)
    power = inv(input) if n < 0 else input
    n = abs(n)
    if n == 3:
        cube = torch.matmul(torch.matmul(power, power), power)
        return cube if out is None else written(cube, out, cast=_POWER)
    result: Any = None
    while n:
        if n & 1:
            result = power if result is None else torch.matmul(result, power)
        n >>= 1
        if n:
            power = torch.matmul(power, power)
    return written(result, out, cast=_POWER)


@autocast("lower precision")
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """Sum of products along dim, x conjugated."""
    if x.dtype != y.dtype:
        raise RuntimeError(
            f"linalg.vecdot: Expected x and y to have the same dtype, but found x of type {dtype_title(x.dtype)} and y of type "
            f"{dtype_title(y.dtype)} instead"
        )
    if not (x.is_floating_point() or x.is_complex()):
        raise RuntimeError(f"linalg.vecdot: Expected a floating point or complex tensor as input. Got {dtype_title(x.dtype)}")
    return written((x.conj() * y).sum(dim), out, "linalg.vecdot: Expected out of dtype{result} but found {out}")


def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """Vector product along dim."""
    return written(_C._ops.linalg_cross(input, other, dim=dim), out)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of matrices."""
    return A.diagonal(offset, dim1, dim2)


def matrix_exp(A: Tensor) -> Tensor:
    """The exponential of square matrices: a Taylor polynomial of A / 2^s, squared s times."""
    if A.dim() < 2:
        raise RuntimeError(f"linalg.matrix_exp: The input tensor A must have at least 2 dimensions. Got shape {list(A.shape)}.")
    if A.size(-1) != A.size(-2):
        raise RuntimeError(f"linalg.matrix_exp: A must be batches of square matrices, but they are {A.size(-2)} by {A.size(-1)} matrices")
    if not (A.is_floating_point() or A.is_complex()):
        raise RuntimeError(f"linalg.matrix_exp: Expected a floating point or complex tensor as input. Got {dtype_title(A.dtype)}")
    if A.numel() == 0:
        return A.clone()
    with torch.no_grad():
        known = whole(A)
        largest = 0.0 if known.is_meta else float(known.abs().sum(-1).amax())
    squarings = max(0, math.ceil(math.log2(largest)) + 3) if largest > 0 and math.isfinite(largest) else 0
    x = A * 2.0**-squarings  # norm at most 1/8: the term of degree 14 is below 1e-22
    eye = torch.eye(A.size(-1), dtype=A.dtype, device=A.device)
    # exp(x) - 1 is kept apart from 1, or squaring would lose digits of small matrices.
    rest = x
    for degree in range(14, 1, -1):
        rest = x + x @ rest / degree
    for _ in range(squarings):
        rest = 2 * rest + rest @ rest
    return (rest + eye).contiguous()


def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """Powers 0 to N - 1 of each element."""
    x = x.reshape(1) if x.dim() == 0 else x
    N = x.size(-1) if N is None else N
    if N <= 1:
        raise RuntimeError("N must be greater than 1.")
    powers = x.unsqueeze(-1).expand(*x.shape, N - 1).cumprod(-1)
    return torch.cat([torch.ones((*x.shape, 1), dtype=powers.dtype, device=x.device), powers], -1)
