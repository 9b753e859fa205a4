"""Windows: weights that fade signals out towards their ends. The functions of torch; those of torch.signal.windows are in signal/windows.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import retrograd as torch
from retrograd import Tensor
from retrograd._ops.out import dtype_title


def _window(
    name: str,
    window_length: int,
    periodic: bool,
    at: Callable[[Tensor, int], Tensor],
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """at(n, N - 1) for n = 0, 1, ...; one of odd length less its last element if periodic. Computed in float32 at least."""
    if not isinstance(window_length, int):
        raise TypeError(f"{name}(): argument 'window_length' (position 1) must be int, not {type(window_length).__name__}")
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if layout not in (None, torch.strided):
        raise RuntimeError(f"{name} is not implemented for sparse types, got: layout={layout}")
    if not dtype.is_floating_point:
        if dtype.is_complex:
            raise NotImplementedError(f"\"{name}\" not implemented for '{dtype_title(dtype)}'")
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    if window_length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={window_length}")
    if window_length < 2:
        return torch.ones(window_length, dtype=dtype, device=device, requires_grad=requires_grad)
    length = window_length + bool(periodic)
    wide = torch.float32 if dtype.itemsize < 4 else dtype
    made = at(torch.arange(length, dtype=wide, device=device), length - 1)[:window_length].to(dtype)
    return made.clone() if not requires_grad else made.clone().requires_grad_()


def bartlett_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """A triangle from 0 up to 1 and down again."""
    return _window("bartlett_window", window_length, periodic, lambda n, last: 1 - (2 * n / last - 1).abs(), **options)


def blackman_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """0.42 - 0.5 cos(x) + 0.08 cos(2x), one turn long."""

    def at(n: Tensor, last: int) -> Tensor:
        turn = n * (2 * math.pi / last)
        return 0.42 - 0.5 * turn.cos() + 0.08 * (2 * turn).cos()

    return _window("blackman_window", window_length, periodic, at, **options)


def hamming_window(window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, **options: Any) -> Tensor:
    """alpha - beta cos(x), one turn long."""
    return _window("hamming_window", window_length, periodic, lambda n, last: alpha - beta * (n * (2 * math.pi / last)).cos(), **options)


def hann_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """(1 - cos(x)) / 2, one turn long."""
    return _window("hann_window", window_length, periodic, lambda n, last: 0.5 - 0.5 * (n * (2 * math.pi / last)).cos(), **options)


def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, **options: Any) -> Tensor:
    """i0(beta * sqrt(1 - x ** 2)) / i0(beta) for x from -1 to 1."""

    def at(n: Tensor, last: int) -> Tensor:
        x = n * (2 / last) - 1
        peak = torch.special.i0(torch.tensor(float(beta), dtype=n.dtype, device=n.device))
        return torch.special.i0(beta * (1 - x * x).clamp_min(0).sqrt()) / peak

    return _window("kaiser_window", window_length, periodic, at, **options)
