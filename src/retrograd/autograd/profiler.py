"""torch.autograd.profiler, as far as programs name it: see retrograd.profiler."""

from __future__ import annotations

import contextlib
from typing import Any

from retrograd._refusals import refused

_REFUSED = "EventList FunctionEvent emit_itt emit_nvtx"
__all__ = ["profile", "record_function", *_REFUSED.split()]

_WHY = "{name}: recording is not there yet; Python's own profilers (cProfile, py-spy) see the calls of ops"
globals().update(refused(__name__, _REFUSED, NotImplementedError, _WHY))


class record_function(contextlib.ContextDecorator):
    """Gives a block a name in a profile: a context manager and a decorator, which does nothing while nobody records."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args

    def __enter__(self) -> record_function:
        return self

    def __exit__(self, *error: object) -> None:
        return None


class profile:
    """Would record what ops run and how long they take; refused where it is made."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        raise NotImplementedError(
            "torch.autograd.profiler.profile is not there yet; Python's own profilers (cProfile, py-spy) see the calls of ops"
        )
