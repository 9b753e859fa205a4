"""Calling a module with other tensors in the place of its parameters and buffers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import Any

from retrograd._C import Tensor
from retrograd.nn.modules.module import Module

__all__ = ["functional_call"]

_ABSENT = object()


def _named_tensors(module: Module) -> dict[str, Any]:
    """Every parameter and buffer by each of its names."""
    return dict([*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)])


def _with_tied(module: Module, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values, repeated for the other names of the tensors they stand for."""
    tensors, result = _named_tensors(module), dict(values)
    if len({id(tensor) for tensor in tensors.values()}) == len(tensors):
        return result  # each has one name
    names: dict[int, list[str]] = {}
    for name, tensor in tensors.items():
        names.setdefault(id(tensor), []).append(name)
    for group in names.values():
        given = [name for name in group if name in values]
        if len(group) < 2 or not given:
            continue
        if len({id(values[name]) for name in given}) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(given)}, which are tied. Consider using tie_weights=False"
            )
        result.update(dict.fromkeys(group, values[given[0]]))
    return result


def _check_keys(module: Module, keys: set[str]) -> None:
    known = set(_named_tensors(module))
    problems = [
        f"{what} key(s): {', '.join(map(repr, sorted(names)))}."
        for what, names in (("Unexpected", keys - known), ("Missing", known - keys))
        if names
    ]
    if problems:
        raise RuntimeError("Error(s) in reparametrizing for {}:\n\t{}".format(type(module).__name__, "\n\t".join(problems)))


def _owner(module: Module, path: str) -> Module:
    for part in path.split(".") if path else ():
        child = getattr(module, part, None)
        if child is None:
            raise AttributeError(f"{type(module).__name__} has no attribute `{part}`")
        if not isinstance(child, Module):
            raise TypeError(f"submodule `{path}`: {child} is not an instance of torch.nn.Module")
        module = child
    return module


def _swap(owner: Module, name: str, value: Any) -> Any:
    """Puts a value in the place of a parameter, buffer or attribute, past the checks of setattr, and returns what was there."""
    table: dict[str, Any] = owner._parameters
    if name not in table:
        table = owner._buffers if name in owner._buffers else owner.__dict__
    old = table.get(name, _ABSENT)
    if value is _ABSENT:
        table.pop(name, None)
    else:
        table[name] = value
    return old


@contextmanager
def _reparametrize_module(
    module: Module, parameters_and_buffers: MutableMapping[str, Any], tie_weights: bool = False, strict: bool = False
) -> Iterator[None]:
    """The module with other tensors, until the end of the block. What the module assigned to them meanwhile is written back to the dict."""
    values = _with_tied(module, parameters_and_buffers) if tie_weights else dict(parameters_and_buffers)
    if strict:
        _check_keys(module, set(values))
    for value in values.values():
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(f"{value} is not an instance of torch.Tensor")
    owners: dict[str, Module] = {}
    places = {}
    for key in values:
        path, _, name = key.rpartition(".")
        if path not in owners:
            owners[path] = _owner(module, path)
        places[key] = owners[path], name
    old: dict[str, Any] = {}
    try:
        for key, (owner, name) in places.items():
            old[key] = _swap(owner, name, values[key])
        yield
    finally:
        for key in reversed(list(old)):
            now = _swap(*places[key], old[key])
            if key in parameters_and_buffers and now is not values[key]:
                parameters_and_buffers[key] = now


def _functional_call(
    module: Module,
    parameters_and_buffers: MutableMapping[str, Any],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights, strict):
        return module(*args, **(kwargs or {}))


def functional_call(
    module: Module,
    parameters_and_buffers: MutableMapping[str, Any],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """The older name of `retrograd.func.functional_call`."""
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0: use `torch.func.functional_call`, which takes the "
        "same arguments.",
        FutureWarning,
        stacklevel=2,
    )
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
