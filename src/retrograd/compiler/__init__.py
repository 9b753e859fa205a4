"""torch.compiler: what guides `torch.compile`. Programs run as they are, so guidance is accepted and changes nothing."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

import retrograd as torch
from retrograd import _compile
from retrograd.compiler import config as config

F = TypeVar("F", bound=Callable[..., Any])

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "config",
    "cudagraph_mark_step_begin",
    "disable",
    "get_default_backend",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "keep_portable_guards_unsafe",
    "keep_tensor_guards_unsafe",
    "list_backends",
    "load_cache_artifacts",
    "load_compiled_function",
    "nested_compile_region",
    "reset",
    "save_cache_artifacts",
    "set_default_backend",
    "set_enable_guard_collectives",
    "set_stance",
    "skip_all_guards_unsafe",
    "skip_guard_on_all_nn_modules_unsafe",
    "skip_guard_on_globals_unsafe",
    "skip_guard_on_inbuilt_nn_modules_unsafe",
    "substitute_in_graph",
    "wrap_numpy",
]


def compile(*args: Any, **kwargs: Any) -> Any:
    """`torch.compile`."""
    return _compile.compile(*args, **kwargs)


# -- questions ----------------------------------------------------------------


def is_compiling() -> bool:
    """Whether a compiler looks at this: never."""
    return False


def is_dynamo_compiling() -> bool:
    """Whether a compiler looks at this: never."""
    return False


def is_exporting() -> bool:
    """Whether the program is being exported: never."""
    return False


# -- marks --------------------------------------------------------------------


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """The function or module as it is, not compiled; a decorator with or without arguments."""
    return (lambda given: given) if fn is None else fn


def allow_in_graph(fn: Any) -> Any:
    """The function as it is; of a list, each."""
    if isinstance(fn, (list, tuple)):
        return [allow_in_graph(part) for part in fn]
    if not callable(fn):
        raise AssertionError("allow_in_graph expects a callable")
    return fn


def assume_constant_result(fn: F) -> F:
    """The function as it is."""
    return fn


def nested_compile_region(fn: Any = None, **options: Any) -> Any:
    """The function as it is."""
    return (lambda given: given) if fn is None else fn


def substitute_in_graph(
    original_fn: Callable[..., Any], *, can_constant_fold_through: bool = False, skip_signature_check: bool = False, **options: Any
) -> Callable[[F], F]:
    """Marks a function that a compiler would look at instead of another. The other goes on being called."""
    if not callable(original_fn):
        raise TypeError(f"original_fn must be a function but got {original_fn!r}")

    def mark(traceable: F) -> F:
        if not skip_signature_check:
            _compare_signatures(original_fn, traceable)
        return traceable

    return mark


def _compare_signatures(original: Callable[..., Any], other: Callable[..., Any]) -> None:
    try:
        both = inspect.signature(original), inspect.signature(other)
    except (TypeError, ValueError):  # nothing to compare
        return
    if [p.name for p in both[0].parameters.values()] != [p.name for p in both[1].parameters.values()]:
        raise TypeError(f"Signature mismatch between {original} and {other}: {both[0]} != {both[1]}")


def wrap_numpy(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy arrays as one of tensors."""

    @functools.wraps(fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        import numpy

        from retrograd.utils._pytree import tree_map

        def to_array(x: Any) -> Any:
            return x.numpy() if isinstance(x, torch.Tensor) else x

        def to_tensor(x: Any) -> Any:
            return torch.as_tensor(x) if isinstance(x, (numpy.ndarray, numpy.generic)) else x

        return tree_map(to_tensor, fn(*tree_map(to_array, args), **tree_map(to_array, kwargs)))

    return wrapped


# -- backends and settings ----------------------------------------------------


def list_backends(exclude_tags: Sequence[str] | None = ("debug", "experimental")) -> list[str]:
    """The names of backends; all of them run the program as it is."""
    debug = {"aot_eager", "aot_eager_decomp_partition", "eager", "eager_noexcept"}
    return sorted(name for name in _compile.backends if not exclude_tags or name not in debug)


def register_backend(compiler_fn: Any = None, name: str | None = None, tags: Sequence[str] = ()) -> Any:
    """Makes a name known as a backend. The function is not called: nothing is compiled."""
    if compiler_fn is None:
        return lambda fn: register_backend(fn, name, tags)
    if not callable(compiler_fn):
        raise AssertionError(f"{compiler_fn} is not a function")
    _compile.backends[name or compiler_fn.__name__] = compiler_fn
    return compiler_fn


def set_default_backend(backend: Any) -> None:
    """The backend of `torch.compile` without one; None for PyTorch's."""
    if backend is not None:
        _compile.check_backend(backend)
    _compile.default_backend = "inductor" if backend is None else backend


def get_default_backend() -> Any:
    """What `set_default_backend` was told."""
    return _compile.default_backend


_STANCES = ("default", "force_eager", "eager_on_recompile", "fail_on_recompile", "eager_then_compile", "aot_eager_then_compile")


class set_stance:
    """How compiled functions behave, from now on or in a block: they run as they are."""

    def __init__(self, stance: str = "default", *, skip_guard_eval_unsafe: bool = False, force_backend: Any = None) -> None:
        if stance not in _STANCES:
            raise RuntimeError(f"invalid torch.compile stance {stance!r}, should be one of: {', '.join(_STANCES)}")
        if force_backend is not None and stance != "default":
            raise RuntimeError("non-default stance cannot have force_backend set")
        self.stance = stance

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: object) -> None:
        pass

    def __call__(self, fn: F) -> F:
        return fn


def reset() -> None:
    """Forgets what was compiled: nothing."""


def cudagraph_mark_step_begin() -> None:
    """Says that a step begins."""


def set_enable_guard_collectives(enabled: bool) -> bool:
    """Accepted without effect; returns what was set before."""
    return False


def _keep(guard_entries: Sequence[Any]) -> list[bool]:
    """Which guards a compiler should keep."""
    return [True] * len(guard_entries)


keep_portable_guards_unsafe = keep_tensor_guards_unsafe = skip_all_guards_unsafe = skip_guard_on_all_nn_modules_unsafe = _keep
skip_guard_on_globals_unsafe = skip_guard_on_inbuilt_nn_modules_unsafe = _keep


def save_cache_artifacts() -> None:
    """What was compiled, to keep: nothing."""


def load_cache_artifacts(serialized_artifacts: bytes) -> None:
    """What was compiled elsewhere: of no use here."""


def load_compiled_function(
    file: Any, *, f_globals: dict[str, object] | None = None, external_data: dict[str, Any] | None = None
) -> NoReturn:
    """Refused: nothing here can run it."""
    raise NotImplementedError(
        "torch.compiler.load_compiled_function: compiled code of PyTorch cannot be run here; load the program instead"
    )
