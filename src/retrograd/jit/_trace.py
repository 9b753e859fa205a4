"""`trace`: runs the function on the examples once, as PyTorch does, and gives the function."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import retrograd as torch
from retrograd import nn
from retrograd.jit._script import RecursiveScriptModule, ScriptFunction, script, scripted


class TracerWarning(Warning):
    """A warning that a trace may not stand for the program. Nothing here gives it: a traced function is the function."""

    @staticmethod
    def ignore_lib_warnings() -> None:
        """There are none."""


class TracingCheckError(Exception):
    """The error of a trace that computes something else than the function, which cannot be here."""

    def __init__(self, graph_diff_error: Any = None, tensor_compare_error: Any = None, extra_msg: str | None = None) -> None:
        super().__init__(extra_msg or "Tracing failed sanity checks!")


class TracedModule(RecursiveScriptModule):
    """A module that was traced."""


class TopLevelTracedModule(TracedModule):
    """A module that was traced."""


_state = threading.local()


def is_tracing() -> bool:
    """Whether this is the run of a function that `trace` makes."""
    return getattr(_state, "depth", 0) > 0


@contextlib.contextmanager
def _tracing() -> Iterator[None]:
    _state.depth = getattr(_state, "depth", 0) + 1
    try:
        yield
    finally:
        _state.depth -= 1


def _arguments(example_inputs: Any, example_kwarg_inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if example_kwarg_inputs is not None:
        if not isinstance(example_kwarg_inputs, dict):
            raise RuntimeError("example_kwarg_inputs should be a dict")
        return (), example_kwarg_inputs
    if example_inputs is None:
        raise RuntimeError("example_kwarg_inputs should be a dict")
    if isinstance(example_inputs, (torch.Tensor, dict)):
        return (example_inputs,), {}
    return tuple(example_inputs), {}


def trace(
    func: Any,
    example_inputs: Any = None,
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_kwarg_inputs: dict[str, Any] | None = None,
    _store_inputs: bool = True,
) -> Any:
    """The function or module, run once on the examples. It stays the Python it is: what it decides by looking at values it goes on deciding."""
    args, kwargs = _arguments(example_inputs, example_kwarg_inputs)
    if isinstance(func, RecursiveScriptModule):
        return func
    with _tracing():
        func(*args, **kwargs)
    return scripted(func) if isinstance(func, nn.Module) else func if isinstance(func, ScriptFunction) else ScriptFunction(func)


def trace_module(
    mod: nn.Module,
    inputs: dict[str, Any],
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_inputs_is_kwarg: bool = False,
    _store_inputs: bool = True,
) -> Any:
    """A module, with several of its methods run once on examples."""
    if not isinstance(mod, nn.Module):
        raise AttributeError("expected torch.nn.Module as the first argument")
    if not isinstance(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    for name, example in inputs.items():
        method = mod if name == "forward" else getattr(mod, name)
        trace(
            method if name == "forward" else _Method(method),
            None if example_inputs_is_kwarg else example,
            example_kwarg_inputs=example if example_inputs_is_kwarg else None,
        )
    return scripted(mod)


class _Method:
    """A bound method, for `trace` to call."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._method(*args, **kwargs)


def script_if_tracing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function that is to be scripted when it is met in a trace."""

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return (script(fn) if is_tracing() else fn)(*args, **kwargs)

    wrapper.__original_fn = fn  # type: ignore[attr-defined]
    wrapper.__script_if_tracing_wrapper = True  # type: ignore[attr-defined]
    return wrapper
