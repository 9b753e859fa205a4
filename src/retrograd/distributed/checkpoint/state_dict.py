"""The states of models and optimizers with the names of parameters, wherever these lie: here, all in one process."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from retrograd.nn.modules.module import Module
from retrograd.optim.optimizer import Optimizer

__all__ = [
    "StateDictOptions", "get_model_state_dict", "get_optimizer_state_dict", "get_state_dict", "set_model_state_dict", "set_optimizer_state_dict",
    "set_state_dict",
]  # fmt: skip


@dataclasses.dataclass
class StateDictOptions:
    """What a state holds."""

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"


def _bare(name: str) -> str:
    """The name of a parameter without what DataParallel puts in front."""
    return name.removeprefix("module.")


def _wrapped(model: Module) -> bool:
    from retrograd.nn.parallel import DataParallel, DistributedDataParallel

    return isinstance(model, (DataParallel, DistributedDataParallel))


def get_model_state_dict(model: Module, *, submodules: Any = None, options: StateDictOptions | None = None) -> dict[str, Any]:
    """The state of a model."""
    options = options or StateDictOptions()
    state = model.state_dict()
    if options.ignore_frozen_params:
        frozen = {name for name, parameter in model.named_parameters() if not parameter.requires_grad}
        state = {name: value for name, value in state.items() if name not in frozen}
    return {_bare(name) if _wrapped(model) else name: value for name, value in state.items()}


def set_model_state_dict(model: Module, model_state_dict: dict[str, Any], *, options: StateDictOptions | None = None) -> Any:
    """Puts a state into a model."""
    target = model.module if _wrapped(model) else model
    return target.load_state_dict(model_state_dict, strict=(options or StateDictOptions()).strict)


def _names(model: Module) -> dict[int, str]:
    return {id(parameter): _bare(name) if _wrapped(model) else name for name, parameter in model.named_parameters()}


def get_optimizer_state_dict(
    model: Module, optimizers: Optimizer | Iterable[Optimizer], *, submodules: Any = None, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """The states of optimizers, by the names of parameters instead of their numbers."""
    if (options or StateDictOptions()).flatten_optimizer_state_dict:
        raise NotImplementedError("get_optimizer_state_dict: flatten_optimizer_state_dict is not supported")
    names = _names(model)
    found: dict[str, Any] = {"state": {}, "param_groups": []}
    for optimizer in [optimizers] if isinstance(optimizers, Optimizer) else optimizers:
        order = [names[id(p)] for group in optimizer.param_groups for p in group["params"]]
        state = optimizer.state_dict()
        found["state"].update({order[number]: value for number, value in state["state"].items()})
        found["param_groups"] += [{**group, "params": [order[number] for number in group["params"]]} for group in state["param_groups"]]
    return found


def set_optimizer_state_dict(
    model: Module, optimizers: Optimizer | Iterable[Optimizer], optim_state_dict: dict[str, Any], *, options: StateDictOptions | None = None
) -> None:
    """Puts such states into optimizers."""
    names = _names(model)
    for optimizer in [optimizers] if isinstance(optimizers, Optimizer) else optimizers:
        order = [names[id(p)] for group in optimizer.param_groups for p in group["params"]]
        number = {name: i for i, name in enumerate(order)}
        groups = [group for group in optim_state_dict["param_groups"] if set(group["params"]) & number.keys()]
        optimizer.load_state_dict(
            {
                "state": {number[name]: value for name, value in optim_state_dict["state"].items() if name in number},
                "param_groups": [{**group, "params": [number[name] for name in group["params"]]} for group in groups],
            }
        )


def get_state_dict(
    model: Module, optimizers: Optimizer | Iterable[Optimizer], *, submodules: Any = None, options: StateDictOptions | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both."""
    return get_model_state_dict(model, options=options), get_optimizer_state_dict(model, optimizers, options=options)


def set_state_dict(
    model: Module,
    optimizers: Optimizer | Iterable[Optimizer],
    *,
    model_state_dict: dict[str, Any],
    optim_state_dict: dict[str, Any],
    options: StateDictOptions | None = None,
) -> Any:
    """Both."""
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return set_model_state_dict(model, model_state_dict, options=options)
