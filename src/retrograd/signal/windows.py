"""Windows: weights that fade signals out towards their ends, symmetric, or one period of a periodic one (sym=False)."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import retrograd as torch
from retrograd._C import Tensor

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann", "kaiser",
    "nuttall",
]  # fmt: skip


def _window(
    name: str, M: int, sym: bool, dtype: Any, layout: Any, device: Any, requires_grad: bool, at: Callable[[Tensor, int], Tensor]
) -> Tensor:
    """at(n, N - 1) for the M places n of a window of N: M of them if symmetric, M + 1 if periodic."""
    M = operator.index(M)
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout != torch.strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if dtype not in (torch.float32, torch.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    if M < 2:
        return torch.ones((M,), dtype=dtype, device=device, requires_grad=requires_grad)
    made = at(torch.arange(M, dtype=dtype, device=device), M - 1 if sym else M)
    return made.requires_grad_() if requires_grad else made


def _cosines(n: Tensor, last: int, a: Iterable[float]) -> Tensor:
    """a0 - a1 cos(x) + a2 cos(2x) - ..., one turn long."""
    turn = n * (2 * math.pi / last)
    return sum((factor * (-1) ** i * (i * turn).cos() for i, factor in enumerate(a)), torch.zeros_like(n))


def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: torch.dtype | None = None,
    layout: torch.layout = torch.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A triangle from 0 up to 1 and down again."""
    return _window("bartlett", M, sym, dtype, layout, device, requires_grad, lambda n, last: 1 - (n * (2 / last) - 1).abs())


def blackman(
    M: int,
    *,
    sym: bool = True,
    dtype: torch.dtype | None = None,
    layout: torch.layout = torch.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """0.42 - 0.5 cos(x) + 0.08 cos(2x), one turn long."""
    return _window("blackman", M, sym, dtype, layout, device, requires_grad, lambda n, last: _cosines(n, last, (0.42, 0.5, 0.08)))


def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: torch.dtype | None = None,
    layout: torch.layout = torch.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Half a turn of the sine, between its zeros."""
    return _window("cosine", M, sym, dtype, layout, device, requires_grad, lambda n, last: ((n + 0.5) * (math.pi / (last + 1))).sin())


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: torch.dtype | None = None,
    layout: torch.layout = torch.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """exp(-|n - center| / tau); the center of a symmetric window is its middle."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    return _window(
        "exponential",
        M,
        sym,
        dtype,
        layout,
        device,
        requires_grad,
        lambda n, last: (-(n - (last / 2 if center is None else center)).abs() / tau).exp(),
    )


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: torch.dtype | None = None,
    layout: torch.layout = torch.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """exp(-n^2 / (2 std^2)), counted from the middle."""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _window(
        "gaussian", M, sym, dtype, layout, device, requires_grad, lambda n, last: (-(((n - last / 2) / (std * math.sqrt(2))) ** 2)).exp()
    )


def general_cosine(
    M: int,
    *,
    a: Iterable[float],
    sym: bool = True,
    dtype: torch.dtype | None = None,
    layout: torch.layout = torch.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """a[0] - a[1] cos(x) + a[2] cos(2x) - ..., one turn long."""
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    factors = [float(value) for value in a]
    if not factors:
        raise ValueError("Coefficients cannot be empty")
    return _window("general_cosine", M, sym, dtype, layout, device, requires_grad, lambda n, last: _cosines(n, last, factors))


def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: torch.dtype | None = None,
    layout: torch.layout = torch.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """alpha - (1 - alpha) cos(x), one turn long."""
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hamming(
    M: int,
    *,
    sym: bool = True,
    dtype: torch.dtype | None = None,
    layout: torch.layout = torch.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """0.54 - 0.46 cos(x), one turn long."""
    return general_hamming(M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hann(
    M: int,
    *,
    sym: bool = True,
    dtype: torch.dtype | None = None,
    layout: torch.layout = torch.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """(1 - cos(x)) / 2, one turn long."""
    return general_hamming(M, alpha=0.5, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: torch.dtype | None = None,
    layout: torch.layout = torch.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """i0(beta sqrt(1 - x^2)) / i0(beta) for x from -1 to 1."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def at(n: Tensor, last: int) -> Tensor:
        x = n * (2 / last) - 1
        peak = torch.special.i0(torch.tensor(float(beta), dtype=n.dtype, device=n.device))
        return torch.special.i0(beta * (1 - x * x).clamp_min(0).sqrt()) / peak

    return _window("kaiser", M, sym, dtype, layout, device, requires_grad, at)


def nuttall(
    M: int,
    *,
    sym: bool = True,
    dtype: torch.dtype | None = None,
    layout: torch.layout = torch.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The four-term cosine window with the lowest side lobes."""
    factors = [0.3635819, 0.4891775, 0.1365995, 0.0106411]
    return general_cosine(M, a=factors, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def __dir__() -> list[str]:
    return __all__
