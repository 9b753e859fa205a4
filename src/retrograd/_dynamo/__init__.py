"""torch._dynamo: the names that programs and libraries use. Programs run as they are, so what would guide a compiler is accepted and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from retrograd._dynamo import config as config, eval_frame as eval_frame, exc as exc
from retrograd._dynamo.eval_frame import OptimizedModule as OptimizedModule
from retrograd.compiler import (
    allow_in_graph as allow_in_graph,
    assume_constant_result as assume_constant_result,
    disable as disable,
    is_compiling as is_compiling,
    list_backends as list_backends,
    register_backend as register_backend,
    reset as reset,
    set_stance as set_stance,
    substitute_in_graph as substitute_in_graph,
)


def _identity(fn: Any = None, *args: Any, **kwargs: Any) -> Any:
    """The function as it is, also as a decorator with arguments."""
    return fn if callable(fn) else lambda function: function


disallow_in_graph = forbid_in_graph = dont_skip_tracing = nonstrict_trace = disable_nested_graph_breaks = _identity


def optimize(backend: Any = "inductor", *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """`torch.compile` as a decorator, the older way."""
    from retrograd._compile import compile

    known = {name: kwargs[name] for name in ("dynamic", "disable") if name in kwargs}
    return lambda model: compile(model, backend=backend, fullgraph=kwargs.get("nopython", False), **known)


def optimize_assert(backend: Any, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """`optimize` without graph breaks."""
    return optimize(backend, nopython=True)


def run(fn: Any = None) -> Any:
    """The function as it is."""
    return _identity(fn)


def mark_dynamic(t: Any, index: Any, **options: Any) -> None:
    """Sizes of a tensor that vary: they always may."""


def maybe_mark_dynamic(t: Any, index: Any) -> None:
    """Sizes of a tensor that vary: they always may."""


def mark_static(t: Any, index: Any = None) -> None:
    """Sizes of a tensor that stay."""


def mark_static_address(t: Any, guard: bool = False) -> None:
    """A tensor that stays where it is."""


def graph_break(msg: str = "") -> None:
    """Where a compiled graph would end."""


def skip_frame(msg: str = "") -> None:
    """A function not to compile."""


def lookup_backend(compiler_fn: Any) -> Any:
    """A backend by its name."""
    from retrograd._compile import check_backend

    check_backend(compiler_fn)
    return compiler_fn


def is_dynamo_disable_recursive(method: Any) -> None:
    """Nothing is marked."""


def _refused(what: str) -> NoReturn:
    raise NotImplementedError(
        f"torch._dynamo.{what}: programs are not compiled here, so there is nothing to show; torch.fx.symbolic_trace() and make_fx() give graphs"
    )


def explain(f: Any, *extra_args: Any, **extra_kwargs: Any) -> Any:
    """Refused: nothing is compiled."""
    return _refused("explain()")


def export(f: Any, *extra_args: Any, **extra_kwargs: Any) -> Any:
    """Refused: nothing is compiled."""
    return _refused("export()")


def replay(filename: str) -> Any:
    """Refused: nothing is compiled."""
    return _refused("replay()")
