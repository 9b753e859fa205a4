"""Modules as functions of their parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from retrograd import _C
from retrograd._C import Tensor

_ops = _C._ops


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Calls a module with other tensors in the place of its parameters and buffers.

    Args:
        parameter_and_buffer_dicts: tensors by name, as in `module.named_parameters()`; what is not given stays as it is. A tuple of dicts
            is taken together.
        args: the arguments of the call; what is no tuple is the only one.
        kwargs: its keyword arguments.
        tie_weights: what is given for one name of a tensor counts for all its names.
        strict: every parameter and buffer has to be given, and nothing else.

    Example::

        >>> model = retrograd.nn.Linear(2, 1, bias=False)
        >>> retrograd.func.functional_call(model, {"weight": retrograd.ones(1, 2)}, retrograd.tensor([1.0, 2.0]))
        tensor([3.])
    """
    from retrograd.nn.utils import stateless

    if isinstance(parameter_and_buffer_dicts, dict):
        values = parameter_and_buffer_dicts
    elif isinstance(parameter_and_buffer_dicts, Sequence):
        if not all(isinstance(d, dict) for d in parameter_and_buffer_dicts):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        counts = Counter(key for d in parameter_and_buffer_dicts for key in d)
        repeated = [key for key, n in counts.items() if n > 1]
        if repeated:
            raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        values = {key: value for d in parameter_and_buffer_dicts for key, value in d.items()}
    else:
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(parameter_and_buffer_dicts)}"
        )
    return stateless._functional_call(module, values, args, kwargs, tie_weights=tie_weights, strict=strict)


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and the buffers of several modules of one class, each stacked along a new first dimension, to vmap over.

    Example::

        >>> models = [retrograd.nn.Linear(2, 1) for _ in range(3)]
        >>> params, buffers = retrograd.func.stack_module_state(models)
        >>> params["weight"].shape
        torch.Size([3, 1, 2])
        >>> run = lambda params, x: retrograd.func.functional_call(models[0], params, x)
        >>> retrograd.vmap(run, in_dims=(0, None))(params, retrograd.ones(5, 2)).shape
        torch.Size([3, 5, 1])
    """
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    params = [dict(model.named_parameters()) for model in models]
    buffers = [dict(model.named_buffers()) for model in models]
    return _stacked(params), _stacked(buffers)


def _stacked(states: list[dict[str, Any]]) -> dict[str, Tensor]:
    return {name: _stack(name, [state[name] for state in states]) for name in states[0]}


def _stack(name: str, tensors: list[Tensor]) -> Tensor:
    """A stack of leaves is a leaf."""
    if len({t.requires_grad for t in tensors}) > 1:
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    if all(t.is_leaf for t in tensors):
        return _ops.stack([t.detach() for t in tensors]).requires_grad_(tensors[0].requires_grad)
    return _ops.stack(tensors)
