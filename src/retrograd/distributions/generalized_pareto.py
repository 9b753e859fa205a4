"""The generalized Pareto distribution."""

from __future__ import annotations

import math
from typing import Any

import retrograd as torch
from retrograd._C import Tensor

from . import constraints
from .distribution import Distribution
from .utils import _EMPTY, broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """What exceeds a threshold `loc`, with `scale` and a tail of shape `concentration`: exponential at 0, bounded below it."""

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True
    _expanded = {"loc": 0, "scale": 0, "concentration": 0}

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def rsample(self, sample_shape: Any = _EMPTY) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def _exponential(self) -> tuple[Tensor, Tensor]:
        """Where the tail is that of the exponential distribution, and shapes that are safe to divide by."""
        flat = torch.isclose(self.concentration, torch.zeros_like(self.concentration))
        return flat, torch.where(flat, torch.ones_like(self.concentration), self.concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        flat, k = self._exponential()
        y = 1 / k + torch.ones_like(z)
        where_tail = torch.where(y == 0, y, y * torch.log1p(k * z))
        return -self.scale.log() - torch.where(flat, z, where_tail)

    def log_survival_function(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        flat, k = self._exponential()
        return torch.where(flat, -z, -torch.log1p(k * z) / k)

    def log_cdf(self, value: Tensor) -> Tensor:
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value: Tensor) -> Tensor:
        return torch.exp(self.log_cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        flat, k = self._exponential()
        logu = torch.log1p(-value)
        return self.loc + torch.where(flat, -self.scale * logu, self.scale * torch.expm1(-k * logu) / k)

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / self.scale

    @property
    def mean(self) -> Tensor:
        valid = self.concentration < 1
        safe = torch.where(valid, self.concentration, 0.5)
        return torch.where(valid, self.loc + self.scale / (1 - safe), math.inf)

    @property
    def variance(self) -> Tensor:
        valid = self.concentration < 0.5
        safe = torch.where(valid, self.concentration, 0.25)
        return torch.where(valid, self.scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe)), math.inf)

    def entropy(self) -> Tensor:
        return torch.broadcast_to(torch.log(self.scale) + self.concentration + 1, self._batch_shape)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        upper = torch.where(self.concentration < 0, self.loc - self.scale / self.concentration, math.inf)
        return constraints.interval(self.loc, upper)
