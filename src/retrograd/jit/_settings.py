"""What tunes TorchScript, accepted with nothing to tune, and running functions beside the program."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from retrograd.futures import Future
from retrograd.jit._script import ScriptModule, _no_code

_onednn = False
_strategy: list[tuple[str, int]] = [("STATIC", 2), ("DYNAMIC", 10)]


def freeze(mod: Any, preserved_attrs: list[str] | None = None, optimize_numerics: bool = True) -> Any:
    """The module, which has to be scripted and in eval mode."""
    if not isinstance(mod, ScriptModule):
        raise RuntimeError(
            "Freezing expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace to script your 'nn.Module'."
        )
    if mod.training:
        raise RuntimeError(
            "Freezing is currently only implemented for modules in eval mode. Please call .eval() on your module before freezing."
        )
    return mod


def optimize_for_inference(mod: Any, other_methods: list[str] | None = None) -> Any:
    """The module, which has to be scripted."""
    if not isinstance(mod, ScriptModule):
        raise RuntimeError(
            "optimize_for_inference expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace to script your 'nn.Module'."
        )
    return mod


def run_frozen_optimizations(mod: Any, optimize_numerics: bool = True, preserved_methods: list[str] | None = None) -> None:
    """Nothing to do."""


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """A future of `func(*args, **kwargs)`. It runs at once, in this thread; an exception is raised by `wait`."""
    future: Future[Any] = Future()
    try:
        result = func(*args, **kwargs)
    except Exception as error:
        future.set_exception(error)
    else:
        future.set_result(result)
    return future


def wait(future: Future[Any]) -> Any:
    """The value of a future that `fork` gave."""
    return future.wait()


def set_fusion_strategy(strategy: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Kept, and the one before returned."""
    global _strategy
    before, _strategy = _strategy, list(strategy)
    return before


def enable_onednn_fusion(enabled: bool) -> None:
    """Kept, without effect."""
    global _onednn
    _onednn = bool(enabled)


def onednn_fusion_enabled() -> bool:
    """What `enable_onednn_fusion` was told."""
    return _onednn


class strict_fusion:
    """A block in which TorchScript would have to fuse everything."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: object) -> None:
        pass


@contextlib.contextmanager
def fuser(name: str) -> Iterator[None]:
    """A block with one of TorchScript's fusers; there is none."""
    if name not in ("fuser0", "fuser1", "fuser2", "fuser3"):
        raise Exception(f"unrecognized fuser option (name: {name})")  # PyTorch's
    yield


@contextlib.contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """A block with TorchScript's optimisations on or off."""
    yield


def set_module(obj: Any, mod: str) -> None:
    """Sets the module something says it is from."""
    obj.__module__ = mod


def export_opnames(m: Any) -> list[str]:
    """Refused: a program here has no list of ops before it runs."""
    return _no_code("torch.jit.export_opnames()")
