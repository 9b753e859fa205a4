"""The base of all distributions."""

from __future__ import annotations

import warnings
from typing import Any

import retrograd as torch
from retrograd._C import Size, Tensor

from . import constraints
from .utils import _EMPTY, lazy_property

__all__ = ["Distribution"]


class Distribution:
    """A batch of distributions of one kind: `batch_shape` parameters, each for draws of `event_shape`."""

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args: bool = __debug__
    # The tensors that `expand` expands, and how many of their last dimensions are not of the batch.
    _expanded: Any

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions check their parameters and the values they are asked about, where validate_args is not given."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape: Size = _EMPTY, event_shape: Size = _EMPTY, validate_args: bool | None = None) -> None:
        self._batch_shape = batch_shape
        self._event_shape = event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()

    def _validate_parameters(self) -> None:
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            arg_constraints = {}
            warnings.warn(
                f"{self.__class__} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize the distribution "
                "with `validate_args=False` to turn off validation.",
                stacklevel=4,
            )
        given = self.__dict__
        for name, constraint in arg_constraints.items():
            value = given.get(name)
            if value is None:
                if isinstance(getattr(type(self), name, None), lazy_property):
                    continue  # it follows from another parameter
                value = getattr(self, name)
            if not constraint._holds(value):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution {self!r} to satisfy "
                    f"the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        if _instance is not None:
            return _instance
        if type(self).__init__ != cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also define a custom "
                ".expand() method."
            )
        return self.__new__(type(self))

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution, for a larger batch; no memory is taken. `_instance` is for subclasses that have an `__init__` of their own."""
        cls = next((c for c in type(self).__mro__ if "_expanded" in vars(c)), None)
        if cls is None:
            raise NotImplementedError
        new = self._get_checked_instance(cls, _instance)
        self._expand_into(new, Size(batch_shape))
        return new

    def _expand_into(self, new: Any, batch_shape: Size) -> None:
        for name, event_dim in self._expanded.items():
            if name in self.__dict__:
                value = self.__dict__[name]
                new.__dict__[name] = value.expand(batch_shape + value.shape[value.dim() - event_dim :])
        new._batch_shape, new._event_shape, new._validate_args = batch_shape, self._event_shape, self._validate_args

    @property
    def batch_shape(self) -> Size:
        """The shape over which parameters are batched."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of a single draw, without batching."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """The set that each parameter is from, by name."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The set that draws are from."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Tensor:
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = _EMPTY) -> Tensor:
        """Draws of shape sample_shape + batch_shape + event_shape, without gradients."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = _EMPTY) -> Tensor:
        """Draws with gradients for the parameters, where `has_rsample`."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """`sample((n,))`, an old name."""
        warnings.warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning, stacklevel=2)
        return self.sample(Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability, or of its density, at these values."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of draws up to these values."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """Where the cdf has these values."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values of a discrete distribution, along a new first dimension."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        return torch.exp(self.entropy())

    def _extended_shape(self, sample_shape: Any = _EMPTY) -> Size:
        if sample_shape is _EMPTY:
            return self._batch_shape + self._event_shape if self._event_shape else self._batch_shape
        if not isinstance(sample_shape, Size):
            sample_shape = Size(sample_shape)
        return sample_shape + self._batch_shape + self._event_shape

    def _validate_sample(self, value: Tensor) -> None:
        """Raises where log_prob, cdf or icdf cannot be asked about the value."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        shape, event = value.shape, self._event_shape
        if shape != self._batch_shape or event:
            if shape[len(shape) - len(event) :] != event:
                raise ValueError(f"The right-most size of value must match event_shape: {shape} vs {event}.")
            expected = self._batch_shape + event
            for i, j in zip(reversed(shape), reversed(expected), strict=False):
                if i != 1 and j != 1 and i != j:
                    raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {shape} vs {expected}.")
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable sample validation. Please initialize the distribution with "
                "`validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if not support._holds(value):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(shape)}) to be within the support ({support!r}) of the "
                f"distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        given = [(name, self.__dict__[name]) for name in self.arg_constraints if name in self.__dict__]
        return f"{type(self).__name__}({', '.join(f'{name}: {v if v.numel() == 1 else v.size()}' for name, v in given)})"
