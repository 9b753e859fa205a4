"""torch.quasirandom: Sobol sequences, which fill the unit cube more evenly than random numbers do."""

from __future__ import annotations

from typing import Any

import retrograd as torch
from retrograd import Tensor

__all__ = ["SobolEngine"]


def _directions(dimension: int, bits: int) -> Tensor:
    """The direction numbers [dimension, bits], by the recurrence of each dimension's polynomial."""
    from retrograd._sobol_numbers import initial_numbers

    rows = [[1] * bits]
    for degree, coefficients, first in initial_numbers(dimension):
        m = list(first[:bits])
        for k in range(degree, bits):
            new = m[k - degree] ^ (m[k - degree] << degree)
            for i in range(1, degree):
                if coefficients >> (degree - 1 - i) & 1:
                    new ^= m[k - i] << i
            m.append(new)
        rows.append(m)
    return torch.tensor([[m << (bits - 1 - k) for k, m in enumerate(row)] for row in rows], dtype=torch.int64)


class SobolEngine:
    """Draws points of a Sobol sequence.

    Args:
        dimension: of the points.
        scramble: makes the sequence random, and keeps it even.
        seed: of the scrambling.

    PyTorch goes up to 21201 dimensions; here are the first 1111.

    Example:
        >>> torch.quasirandom.SobolEngine(2).draw(3)
        tensor([[0.0000, 0.0000],
                [0.5000, 0.5000],
                [0.7500, 0.2500]])
    """

    MAXBIT = 30
    MAXDIM = 1111

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(
                f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]: got {dimension}"
                + (", and the direction numbers of more are not in the package" if dimension > self.MAXDIM else "")
            )
        self.seed, self.scramble, self.dimension = seed, scramble, dimension
        self.sobolstate = _directions(dimension, self.MAXBIT)
        self.shift = torch.zeros(dimension, dtype=torch.int64)
        if scramble:
            self._scramble()
        self.quasi = self.shift.clone()
        self.num_generated = 0

    def _scramble(self) -> None:
        generator = torch.Generator()
        if self.seed is not None:
            generator.manual_seed(self.seed)
        else:
            generator.seed()
        bits = self.MAXBIT
        self.shift = (torch.randint(2, (self.dimension, bits), generator=generator) * 2 ** torch.arange(bits)).sum(1)
        # Each direction number, its highest bit first, is multiplied by a random lower triangular matrix of bits, modulo two.
        matrices = torch.randint(2, (self.dimension, bits, bits), generator=generator).tril(-1) + torch.eye(bits, dtype=torch.int64)
        places = torch.arange(bits - 1, -1, -1)
        digits = (self.sobolstate.unsqueeze(-1) >> places) & 1  # [dimension, number, bit]
        mixed = (digits.unsqueeze(2) * matrices.unsqueeze(1)).sum(-1) & 1
        self.sobolstate = (mixed << places).sum(-1)

    def _points(self, start: int, count: int) -> Tensor:
        """The integers [count, dimension] of the points from one on: directions combined by the bits of the point's Gray code."""
        if start + count > 2**self.MAXBIT:
            raise ValueError(f"a Sobol sequence has {2**self.MAXBIT} points, and {start + count} are asked for")
        index = torch.arange(start, start + count)
        code = index ^ (index >> 1)
        points = self.shift.expand(count, -1).clone()
        for k in range((start + count).bit_length()):
            points ^= ((code >> k) & 1).unsqueeze(1) * self.sobolstate[:, k]
        return points

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: torch.dtype | None = None) -> Tensor:
        """The next `n` points, [n, dimension], each in [0, 1)."""
        dtype = torch.get_default_dtype() if dtype is None else dtype
        if n < 1:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n - 1}: draw at least one point")
        if dtype not in (torch.float32, torch.float64):
            raise NotImplementedError(f"\"_sobol_engine_draw\" not implemented for '{str(dtype)[6:]}': draw float32 or float64, and cast")
        points = self._points(self.num_generated, n)
        self.quasi = points[-1].clone()
        self.num_generated += n
        result = points.to(dtype) / 2**self.MAXBIT
        if out is None:
            return result
        out.resize_(result.shape).copy_(result)
        return out

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: torch.dtype | None = None) -> Tensor:
        """The next 2**m points, where that many in all are even again."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                f"The balance properties of Sobol' points require n to be a power of 2. {self.num_generated} points have been previously "
                f"generated, then: n={self.num_generated}+2**{m}={total}. If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Goes back to the first point."""
        self.quasi = self.shift.clone()
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leaves out the next `n` points."""
        if n < 0:
            raise ValueError(f"expected a number of points to leave out, got {n}")
        self.num_generated += n
        self.quasi = self._points(max(self.num_generated - 1, 0), 1)[0]
        return self

    def __repr__(self) -> str:
        words: list[Any] = [f"dimension={self.dimension}"]
        if self.scramble:
            words.append("scramble=True")
        if self.seed is not None:
            words.append(f"seed={self.seed}")
        return f"{self.__class__.__name__}({', '.join(words)})"
