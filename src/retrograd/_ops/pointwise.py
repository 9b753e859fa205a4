"""Pointwise ops that are written in others."""

from __future__ import annotations

from typing import Any

import retrograd as torch
from retrograd import Tensor


def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Whether elements are equal within atol + rtol * |other|."""
    _check_tensors("isclose", input=input, other=other)
    if input.dtype != other.dtype:
        raise RuntimeError(f"{input.dtype._title} did not match {other.dtype._title}")
    if rtol < 0:
        raise RuntimeError(f"rtol must be greater than or equal to zero, but got {rtol:g}")
    if atol < 0:
        raise RuntimeError(f"atol must be greater than or equal to zero, but got {atol:g}")
    close = input == other
    if equal_nan and (input.is_floating_point() or input.is_complex()):
        close = close | (input.isnan() & other.isnan())
    if (rtol == 0 and atol == 0) or input.dtype == torch.bool:
        return close
    reference = other if other.is_floating_point() or other.is_complex() else other.to(torch.get_default_dtype())
    error = (input - reference).abs()
    return close | (error.isfinite() & (error <= atol + (rtol * reference).abs()))


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements are equal within atol + rtol * |other|."""
    return bool(isclose(input, other, rtol, atol, equal_nan).all().item())


def float_power_(self: Tensor, exponent: Tensor | complex) -> Tensor:
    """float_power() into self, which must be of the dtype it computes in."""
    if not isinstance(exponent, (torch.Tensor, int, float, complex)):
        raise TypeError(
            f"float_power_() received an invalid combination of arguments - got ({type(exponent).__name__}), but expected a number or a Tensor"
        )
    is_complex = any(t.is_complex() if isinstance(t, torch.Tensor) else isinstance(t, complex) for t in (self, exponent))
    dtype = torch.complex128 if is_complex else torch.float64
    if self.dtype != dtype:
        needed = "ComplexDouble" if is_complex else "Double"
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype._title} but the operation's result requires dtype {needed}"
        )
    return self.pow_(exponent.to(dtype) if isinstance(exponent, torch.Tensor) else exponent)


def _check_tensors(name: str, **tensors: Any) -> None:
    for position, (argument, value) in enumerate(tensors.items(), 1):
        if not isinstance(value, torch.Tensor):
            raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be Tensor, not {type(value).__name__}")
