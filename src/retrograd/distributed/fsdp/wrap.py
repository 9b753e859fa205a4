"""Which modules of a model FullyShardedDataParallel wraps by themselves."""

# ruff: noqa: F822 - refused() makes some of these names

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from retrograd._refusals import refused
from retrograd.distributed.fsdp import _WHY
from retrograd.nn.modules.module import Module

__all__ = [
    "CustomPolicy", "ModuleWrapPolicy", "always_wrap_policy", "enable_wrap", "lambda_auto_wrap_policy", "size_based_auto_wrap_policy",
    "transformer_auto_wrap_policy", "wrap",
]  # fmt: skip


def always_wrap_policy(*args: Any, **kwargs: Any) -> bool:
    """Every module."""
    return True


def lambda_auto_wrap_policy(module: Module, recurse: bool, nonwrapped_numel: int, lambda_fn: Callable[[Module], bool]) -> bool:
    """Modules of which a function says so."""
    return True if recurse else lambda_fn(module)


def transformer_auto_wrap_policy(module: Module, recurse: bool, nonwrapped_numel: int, transformer_layer_cls: set[type[Module]]) -> bool:
    """Modules of these classes."""
    return True if recurse else isinstance(module, tuple(transformer_layer_cls))


def size_based_auto_wrap_policy(
    module: Module,
    recurse: bool,
    nonwrapped_numel: int,
    min_num_params: int = int(1e8),
    force_leaf_modules: set[type[Module]] | None = None,
    exclude_wrap_modules: set[type[Module]] | None = None,
) -> bool:
    """Modules with many parameters."""
    from retrograd import nn

    excluded = exclude_wrap_modules or {nn.ModuleList, nn.ModuleDict}
    leaves = force_leaf_modules or {nn.MultiheadAttention}
    large = nonwrapped_numel >= min_num_params
    return large and not isinstance(module, tuple(leaves if recurse else excluded))


class ModuleWrapPolicy:
    """Modules of these classes."""

    def __init__(self, module_classes: Any) -> None:
        self._module_classes = set(module_classes)

    def __call__(self, module: Module, recurse: bool, *args: Any, **kwargs: Any) -> bool:
        return transformer_auto_wrap_policy(module, recurse, -1, self._module_classes)


class CustomPolicy:
    """Modules of which a function says so, with its options."""

    def __init__(self, lambda_fn: Callable[[Module], Any]) -> None:
        self._lambda_fn = lambda_fn


_or_policy = functools.partial(
    lambda module, recurse, nonwrapped_numel, policies: any(p(module, recurse, nonwrapped_numel) for p in policies)
)
globals().update(refused(__name__, "enable_wrap wrap", NotImplementedError, _WHY))
