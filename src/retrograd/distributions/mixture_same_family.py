"""Mixtures of distributions of one kind."""

from __future__ import annotations

from typing import Any

import retrograd as torch
from retrograd._C import Tensor

from . import constraints
from .categorical import Categorical
from .distribution import Distribution
from .utils import _EMPTY

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """Draws from one of the distributions along the last dimension of the batch of `component_distribution`, which `mixture_distribution`
    chooses."""

    arg_constraints: Any = {}
    has_rsample = False
    _expanded: Any = {}

    def __init__(self, mixture_distribution: Categorical, component_distribution: Distribution, validate_args: bool | None = None) -> None:
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
        batch, of_components = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        for size1, size2 in zip(reversed(batch), reversed(of_components), strict=False):
            if size1 != 1 and size2 != 1 and size1 != size2:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({batch}) is not compatible with `component_distribution.batch_shape`"
                    f"({of_components})"
                )
        count, found = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if count is not None and found is not None and count != found:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal `component_distribution.batch_shape[-1]` ({found})"
            )
        self._num_component = count
        event_shape = component_distribution.event_shape
        self._event_ndims = len(event_shape)
        super().__init__(of_components, event_shape, validate_args=validate_args)

    def _expand_into(self, new: Any, batch_shape: Any) -> None:
        super()._expand_into(new, batch_shape)
        new._component_distribution = self._component_distribution.expand(batch_shape + (self._num_component,))
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component, new._event_ndims = self._num_component, len(self._event_shape)

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        return self._component_distribution

    @property
    def mean(self) -> Tensor:
        probs = self._pad_mixture_dimensions(self.mixture_distribution.probs)
        return torch.sum(probs * self.component_distribution.mean, dim=-1 - self._event_ndims)

    @property
    def variance(self) -> Tensor:
        probs, dim = self._pad_mixture_dimensions(self.mixture_distribution.probs), -1 - self._event_ndims
        within = torch.sum(probs * self.component_distribution.variance, dim=dim)
        return within + torch.sum(probs * (self.component_distribution.mean - self._pad(self.mean)).pow(2.0), dim=dim)

    def cdf(self, x: Tensor) -> Tensor:
        return torch.sum(self.component_distribution.cdf(self._pad(x)) * self.mixture_distribution.probs, dim=-1)

    def log_prob(self, x: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(x)
        log_probs = self.component_distribution.log_prob(self._pad(x))
        return torch.logsumexp(log_probs + torch.log_softmax(self.mixture_distribution.logits, dim=-1), dim=-1)

    def sample(self, sample_shape: Any = _EMPTY) -> Tensor:
        with torch.no_grad():
            sample_len, batch_len = len(sample_shape), len(self.batch_shape)
            gather_dim, event_shape = sample_len + batch_len, self.event_shape
            chosen = self.mixture_distribution.sample(sample_shape)
            samples = self.component_distribution.sample(sample_shape)
            index = chosen.reshape(chosen.shape + (1,) * (len(event_shape) + 1))
            index = index.repeat((1,) * len(chosen.shape) + (1,) + tuple(event_shape))
            return torch.gather(samples, gather_dim, index).squeeze(gather_dim)

    def _pad(self, x: Tensor) -> Tensor:
        return x.unsqueeze(-1 - self._event_ndims)

    def _pad_mixture_dimensions(self, x: Tensor) -> Tensor:
        pad = len(self.batch_shape) - len(self.mixture_distribution.batch_shape)
        shape = x.shape
        return x.reshape(tuple(shape[:-1]) + (1,) * pad + tuple(shape[-1:]) + (1,) * self._event_ndims)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
