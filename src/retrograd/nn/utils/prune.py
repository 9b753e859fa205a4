"""Pruning: parameters multiplied by masks of zeros and ones.

A pruned parameter `weight` of a module is a parameter `weight_orig`, a buffer `weight_mask`, and their product, computed before each call by a
hook, a pruning method. Pruning it again makes the hook a PruningContainer, whose methods choose from what the earlier ones left.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import retrograd as torch
from retrograd._C import Tensor
from retrograd.nn.modules.module import Module

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer", "RandomStructured",
    "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured",
    "random_structured", "random_unstructured", "remove",
]  # fmt: skip

M = TypeVar("M", bound=Module)
P = TypeVar("P", bound="BasePruningMethod")


class BasePruningMethod(ABC):
    """A way of choosing what to prune: subclasses define compute_mask, and say with PRUNING_TYPE which entries they choose from.

    "unstructured": single entries, "structured": whole slices along `dim`, "global": all entries, also those that are pruned already.
    """

    _tensor_name: str
    PRUNING_TYPE: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask for the scores t, given the one there is: entries that are zero in it stay zero."""

    def apply_mask(self, module: Module) -> Tensor:
        """The pruned tensor: the original one times the mask."""
        if getattr(self, "_tensor_name", None) is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask: Tensor = getattr(module, self._tensor_name + "_mask")
        original: Tensor = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls: type[P], module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any) -> Any:
        """Prunes a parameter of a module, and adds the hook that keeps it so.

        Args:
            args, kwargs: of the constructor.
            importance_scores: what to choose by, of the shape of the parameter; the parameter itself if left out.
        """
        earlier = _hook_of(module, name)
        if earlier is not None:
            module._forward_pre_hooks.pop(earlier[0])
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        if earlier is not None:
            container = earlier[1] if isinstance(earlier[1], PruningContainer) else PruningContainer(earlier[1])
            container.add_pruning_method(method)
            method = container
        tensor: Tensor = getattr(module, name)
        scores = tensor if importance_scores is None else importance_scores
        if importance_scores is not None and scores.shape != tensor.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, got {scores.shape} vs {tensor.shape}"
            )
        if not isinstance(method, PruningContainer):
            module.register_parameter(name + "_orig", tensor)  # type: ignore[arg-type]
            del module._parameters[name]
            default = torch.ones_like(tensor)
        else:
            default = getattr(module, name + "_mask").detach().clone(memory_format=torch.contiguous_format)
        try:
            mask = method.compute_mask(scores, default_mask=default)
            module.register_buffer(name + "_mask", mask)
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if not isinstance(method, PruningContainer):  # as if nothing had been tried
                module.register_parameter(name, module._parameters.pop(name + "_orig"))
            raise
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """The pruned form of a tensor that belongs to no module."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError(f"importance_scores should have the same shape as tensor t, got {scores.shape} vs {t.shape}")
        mask = torch.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=mask)

    def remove(self, module: Module) -> None:
        """Makes the pruned values the parameter, for good; the hook is the caller's to take off."""
        name = getattr(self, "_tensor_name", None)
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original: Any = module._parameters.pop(name + "_orig")
        original.data = weight.data
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


def _hook_of(module: Module, name: str) -> tuple[int, BasePruningMethod] | None:
    """The pruning hook of a parameter, with its key."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return key, hook
    return None


class PruningContainer(BasePruningMethod):
    """Pruning methods one after the other, for one parameter."""

    def __init__(self, *args: BasePruningMethod | Iterable[BasePruningMethod]) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        methods: Any = args[0] if len(args) == 1 and isinstance(args[0], Iterable) else args
        for method in methods:
            if not self._pruning_methods:
                self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Adds one at the end, for the same parameter."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer {self}. "
                f"Found '{method._tensor_name}'"
            )
        self._pruning_methods = (*self._pruning_methods, method)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of the newest method, within what the ones before have left."""
        method = self._pruning_methods[-1]
        default_mask = default_mask.to(dtype=t.dtype)
        chosen: Any
        if method.PRUNING_TYPE == "unstructured":
            chosen = default_mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = method.dim  # type: ignore[attr-defined]
            dim = dim if dim >= 0 else dim + t.dim()
            others = [d for d in range(t.dim()) if d != dim]
            chosen = [slice(None)] * t.dim()
            chosen[dim] = default_mask.sum(dim=others) != 0
            chosen = tuple(chosen)
        elif method.PRUNING_TYPE == "global":
            chosen = (slice(None),) * t.dim()
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        mask = default_mask.clone()
        mask[chosen] = method.compute_mask(t[chosen], default_mask=default_mask[chosen]).to(dtype=mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """Prunes nothing, and makes the mask."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask

    @classmethod
    def apply(cls, module: Module, name: str) -> Any:  # type: ignore[override]
        return super().apply(module, name)


class _OfAmount(BasePruningMethod):
    """Prunes a number of entries or slices, or a fraction of them."""

    def __init__(self, amount: Any) -> None:
        _check_amount(amount)
        self.amount = amount

    def _count(self, size: int) -> int:
        """How many of `size`."""
        if isinstance(self.amount, numbers.Integral):
            if self.amount > size:  # type: ignore[operator]
                raise ValueError(f"amount={self.amount} should be smaller than the number of parameters to prune={size}")
            return int(self.amount)
        return round(self.amount * size)


class RandomUnstructured(_OfAmount):
    """Prunes entries drawn at random."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = self._count(t.nelement())
        mask = default_mask.clone(memory_format=torch.contiguous_format)
        if count:
            mask.view(-1)[torch.topk(torch.rand_like(t).view(-1), k=count).indices] = 0
        return mask

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any) -> Any:  # type: ignore[override]
        return super().apply(module, name, amount=amount)


class L1Unstructured(_OfAmount):
    """Prunes the entries of least absolute value."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = self._count(t.nelement())
        mask = default_mask.clone(memory_format=torch.contiguous_format)
        if count:
            mask.view(-1)[torch.topk(torch.abs(t).reshape(-1), k=count, largest=False).indices] = 0
        return mask

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any, importance_scores: Tensor | None = None) -> Any:  # type: ignore[override]
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


def _slices(mask: Tensor, dim: int, kept: Any) -> Tensor:
    """The mask with ones at the kept indices of a dimension alone."""
    new = torch.zeros_like(mask)
    where: list[Any] = [slice(None)] * mask.dim()
    where[dim] = kept
    new[tuple(where)] = 1
    return new * mask.to(dtype=new.dtype)


class RandomStructured(_OfAmount):
    """Prunes slices along a dimension, drawn at random."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        _check_structured(t, self.dim)
        size = t.shape[self.dim]
        count = self._count(size)
        if count == 0:
            return default_mask
        drawn = torch.rand(size)
        return _slices(default_mask, self.dim, drawn > torch.kthvalue(drawn, k=count).values)

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any, dim: int = -1) -> Any:  # type: ignore[override]
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_OfAmount):
    """Prunes the slices along a dimension of least n-norm."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.n = n
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        _check_structured(t, self.dim)
        size = t.shape[self.dim]
        count = self._count(size)
        if count == 0:
            return default_mask
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        norms = torch.norm(t, p=self.n, dim=others)
        return _slices(default_mask, self.dim, torch.topk(norms, k=size - count, largest=True).indices)

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Module, name: str, amount: Any, n: Any, dim: int, importance_scores: Tensor | None = None
    ) -> Any:
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes where a given mask is zero."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Module, name: str, mask: Tensor) -> Any:  # type: ignore[override]
        return super().apply(module, name, mask=mask)


def identity(module: M, name: str) -> M:
    """Gives a parameter a mask of ones."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: M, name: str, amount: Any) -> M:
    """Prunes entries of a parameter, drawn at random.

    Args:
        amount: how many, or as a float which fraction.
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: M, name: str, amount: Any, importance_scores: Tensor | None = None) -> M:
    """Prunes the entries of a parameter, or of importance_scores, of least absolute value."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: M, name: str, amount: Any, dim: int) -> M:
    """Prunes slices of a parameter along dim, drawn at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: M, name: str, amount: Any, n: Any, dim: int, importance_scores: Tensor | None = None) -> M:
    """Prunes the slices of a parameter along dim of least n-norm."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: M, name: str, mask: Tensor) -> M:
    """Prunes a parameter where a mask is zero."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any) -> None:
    """Prunes entries of several parameters, chosen among all of them together.

    Args:
        parameters: (module, name) pairs.
        pruning_method: a class that chooses single entries, such as L1Unstructured.
        importance_scores: {(module, name): scores} to choose by.
        kwargs: of the constructor of the method.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    pairs = list(parameters)
    flat = torch.cat([scores.get((module, name), getattr(module, name)).reshape(-1) for module, name in pairs])
    masks = torch.cat([getattr(module, name + "_mask", torch.ones_like(getattr(module, name))).reshape(-1) for module, name in pairs])
    container = PruningContainer()
    container._tensor_name = "temp"  # of a parameter that exists here only
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of type '
            f"{method.PRUNING_TYPE}"
        )
    final, start = container.compute_mask(flat, masks), 0
    for module, name in pairs:
        parameter: Tensor = getattr(module, name)
        end = start + parameter.numel()
        custom_from_mask(module, name, mask=final[start:end].view_as(parameter))
        start = end


def remove(module: M, name: str) -> M:
    """Makes the pruned values of a parameter the parameter, for good."""
    found = _hook_of(module, name)
    if found is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    key, hook = found
    hook.remove(module)
    del module._forward_pre_hooks[key]
    return module


def is_pruned(module: Module) -> bool:
    """Whether a parameter of the module, or of one below it, is pruned."""
    return any(isinstance(hook, BasePruningMethod) for part in module.modules() for hook in part._forward_pre_hooks.values())


def _check_amount(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if not (int(amount) >= 0 if isinstance(amount, numbers.Integral) else 0.0 <= float(amount) <= 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _check_structured(t: Tensor, dim: int) -> None:
    if t.dim() <= 1:
        raise ValueError(
            f"Structured pruning can only be applied to multidimensional tensors. Found tensor of shape {t.shape} with {t.dim()} dims"
        )
    if not -t.dim() <= dim < t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")
