"""grouped_mm: products of matrices of one size with parts of a matrix that differ in length, as experts of a network meet their tokens."""

from __future__ import annotations

import itertools
from typing import Any

import retrograd as torch
from retrograd import Tensor


def grouped_mm(mat_a: Tensor, mat_b: Tensor, *, offs: Tensor | None = None, bias: Tensor | None = None, out_dtype: Any = None) -> Tensor:
    """Products group by group, each matrix being either a stack of three dimensions or cut into groups by `offs`, where they end.

    Two stacks are multiplied matrix by matrix. With one of them cut, the results lie side by side as its groups do (0 beyond the last
    one); with both cut, along the dimension that is summed over, they are a stack.
    """
    for name, matrix in (("mat_a", mat_a), ("mat_b", mat_b)):
        if matrix.dim() not in (2, 3):
            raise RuntimeError(f"{name} has to be 2 or 3d, but it has {matrix.dim()} dimensions")
    for name, matrix in (("mat_a", mat_a), ("mat_b", mat_b)):
        if not matrix.is_floating_point():
            raise RuntimeError(f"Expected {name} to be Float32, BFloat16 or Float16 matrix, got {matrix.dtype}")
    if mat_a.dtype != mat_b.dtype:
        raise RuntimeError(f"Expected mat_a and mat_b to be of one dtype, got {mat_a.dtype} and {mat_b.dtype}")
    if bias is not None:
        raise RuntimeError("Bias not supported yet: add it to the result")
    if out_dtype not in (None, mat_a.dtype):
        raise RuntimeError(f"Grouped gemm output dtype must match `mat_a` dtype, {mat_a.dtype}, but got {out_dtype}")
    stacks = (mat_a.dim() == 3, mat_b.dim() == 3)
    if (offs is None) != all(stacks):
        raise RuntimeError("Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d")
    if mat_a.size(-1) != mat_b.size(-2):
        raise RuntimeError(f"contraction dimension of mat_a and mat_b must match, but they are {mat_a.size(-1)} and {mat_b.size(-2)}")
    if offs is None:
        if mat_a.size(0) != mat_b.size(0):
            raise RuntimeError(f"batched dimension has to match, but they are {mat_a.size(0)} and {mat_b.size(0)}")
        return torch.bmm(mat_a, mat_b)
    groups = mat_a.size(0) if stacks[0] else mat_b.size(0) if stacks[1] else None
    cut = mat_b.size(1) if stacks[0] else mat_a.size(0) if stacks[1] else mat_a.size(1)
    lengths, rest = _lengths(offs, groups, cut)

    def parts(matrix: Tensor, dim: int) -> tuple[Tensor, ...]:
        return matrix.split([*lengths, rest], dim)[: len(lengths)]

    if stacks[1]:
        found = [a @ b for a, b in zip(parts(mat_a, 0), mat_b.unbind(), strict=True)]
        return torch.cat([*found, mat_a.new_zeros((rest, mat_b.size(2)))])
    if stacks[0]:
        found = [a @ b for a, b in zip(mat_a.unbind(), parts(mat_b, 1), strict=True)]
        return torch.cat([*found, mat_a.new_zeros((mat_a.size(1), rest))], 1)
    found = [a @ b for a, b in zip(parts(mat_a, 1), parts(mat_b, 0), strict=True)]
    return torch.stack(found) if found else mat_a.new_zeros((0, mat_a.size(0), mat_b.size(1)))


def _lengths(offs: Tensor, groups: int | None, cut: int) -> tuple[list[int], int]:
    """How long the groups are, and what is left behind the last."""
    if offs.dim() != 1:
        raise RuntimeError(f"offs has to be 1D, but it has {offs.dim()} dimensions")
    if offs.dtype != torch.int32:
        raise RuntimeError(f"Offsets have to be int32, but they are {offs.dtype}")
    if groups is not None and offs.size(0) != groups:
        raise RuntimeError(f"matrix batch sizes have to match: {offs.size(0)} offsets and {groups} matrices")
    ends = [0, *offs.tolist()]
    lengths = [end - start for start, end in itertools.pairwise(ends)]
    if min(lengths, default=0) < 0 or ends[-1] > cut:
        raise RuntimeError(f"offs must not decrease, nor go past the {cut} elements of the dimension that is cut: {ends[1:]}")
    return lengths, cut - ends[-1]
