"""hash_tensor: one number of 64 bits that changes when an element does."""

from __future__ import annotations

import math
from collections.abc import Sequence

import retrograd as torch
from retrograd import Tensor
from retrograd._ops.out import dtype_title, written


def hash_tensor(
    self: Tensor, dim: int | Sequence[int] | None = None, *, keepdim: bool = False, mode: int = 0, out: Tensor | None = None
) -> Tensor:
    """The exclusive or of the bits of all elements, each taken as a float64 or an int64, over `dim`."""
    if mode != 0:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    if self.dtype.is_complex or not torch.can_cast(self.dtype, torch.float64) or self.dtype in (torch.uint16, torch.uint32, torch.uint64):
        name = dtype_title(self.dtype)
        raise NotImplementedError(
            f"\"xor_sum_cpu\" not implemented for '{name}', expected a real floating point, integer or boolean tensor"
        )
    wanted = [] if dim is None else [dim] if isinstance(dim, int) else list(dim)
    dims = _wrapped(wanted, self.dim())
    if not wanted and self.numel() == 0:
        raise RuntimeError(
            "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument."
        )
    for d in dims:
        if self.dim() and self.size(d) == 0:
            raise IndexError(f"hash_tensor: Expected reduction dim {d} to have non-zero size.")
    kept = [d for d in range(self.dim()) if d not in dims]
    sizes = [self.size(d) for d in kept]
    values = self.to(torch.float64 if self.is_floating_point() else torch.int64)
    rows = values.permute([*kept, *dims]).reshape(*sizes, math.prod(self.size(d) for d in dims)).view(torch.int64)
    while (n := rows.size(-1)) > 1:  # fold the second half onto the first
        half = n // 2
        folded = rows.narrow(-1, 0, half) ^ rows.narrow(-1, half, half)
        rows = torch.cat([folded, rows.narrow(-1, n - 1, 1)], -1) if n % 2 else folded
    shape = [1 if d in dims else self.size(d) for d in range(self.dim())] if keepdim else sizes
    return written(rows.reshape(shape).view(torch.uint64), out, "Expected result to be of dtype uint64, but got {out}")


def _wrapped(dims: list[int], rank: int) -> list[int]:
    """Which dimensions are meant, counted from 0; all of them when none is named."""
    n = max(rank, 1)
    found: list[int] = []
    for d in dims or range(rank):
        if not -n <= d < n:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})")
        if d % n in found:
            raise RuntimeError(f"dim {d % n} appears multiple times in the list of dims")
        found.append(d % n)
    return found if rank else []
