"""`torch.compile`: the same results, from the program as it is."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
# PyTorch's backends. All mean the same here: running the program.
backends: dict[str, Any] = dict.fromkeys(
    ("aot_eager", "aot_eager_decomp_partition", "cudagraphs", "eager", "eager_noexcept", "inductor", "openxla", "tvm")
)
default_backend: Any = "inductor"


def check_backend(backend: Any) -> None:
    """Raises unless it is a function or the name of a backend."""
    from retrograd._dynamo import exc

    if isinstance(backend, str):
        if backend not in backends:
            raise exc.InvalidBackend(backend)
    elif not callable(backend):
        raise exc.BackendCompilerFailed(f"backend={str(backend)!r} raised: TypeError: {type(backend).__name__!r} object is not callable")


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] | None = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    name: str | None = None,
    disable: bool = False,
    recompile_limit: int | None = None,
    isolate_recompiles: bool = False,
    shapes_spec: Any = None,
) -> Any:
    """A module or function that computes what `model` does; without `model`, a decorator.

    There is no compiler yet: the program runs as it is, and `backend`, `mode` and `options` are checked and change nothing. A function
    given as `backend` is not called. For a module the result is an `OptimizedModule`, whose state_dict has `_orig_mod.` before each key.
    """
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if mode is not None and mode not in MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(MODES)}")
    if model is None:
        return lambda given: compile(
            given, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options, disable=disable
        )
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    if disable or inspect.isclass(model):
        return model
    from retrograd import nn
    from retrograd._dynamo.eval_frame import OptimizedModule

    chosen = default_backend if backend is None else backend
    if isinstance(model, nn.Module):
        check_backend(chosen)
        return OptimizedModule(model)

    @functools.wraps(model)
    def compiled(*args: Any, **kwargs: Any) -> Any:
        check_backend(chosen)
        return model(*args, **kwargs)

    compiled._torchdynamo_orig_callable = model  # type: ignore[attr-defined]
    return compiled
