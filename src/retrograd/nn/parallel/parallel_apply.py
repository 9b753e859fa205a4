"""Modules called side by side: on one device, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from retrograd._C import Tensor
from retrograd.nn.modules.module import Module

__all__ = ["get_a_var", "parallel_apply"]


def get_a_var(obj: Any) -> Tensor | None:
    """The first tensor in lists, tuples and dictionaries, or None."""
    if isinstance(obj, Tensor):
        return obj
    parts = obj.items() if isinstance(obj, dict) else obj if isinstance(obj, (list, tuple)) else ()
    return next((found for part in parts if (found := get_a_var(part)) is not None), None)


def parallel_apply(
    modules: Sequence[Module], inputs: Sequence[Any], kwargs_tup: Sequence[dict[str, Any]] | None = None, devices: Any = None
) -> list[Any]:
    """Calls each module on its inputs, one after the other."""
    if len(modules) != len(inputs):
        raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of inputs {len(inputs)}")
    options = kwargs_tup if kwargs_tup is not None else [{}] * len(modules)
    return [
        module(*(given if isinstance(given, (list, tuple)) else (given,)), **kwargs)
        for module, given, kwargs in zip(modules, inputs, options, strict=True)
    ]
