"""Errors of processes that torchrun started, written down for it."""

from __future__ import annotations

import functools
import json
import os
import time
import traceback
from collections.abc import Callable
from typing import Any

__all__ = ["ChildFailedError", "ProcessFailure", "record"]


class ProcessFailure(Exception):
    """How a process ended."""


class ChildFailedError(Exception):
    """Some process that was started ended badly."""


def record(fn: Callable[..., Any], error_handler: Any = None) -> Callable[..., Any]:
    """A function whose error is written to the file that TORCHELASTIC_ERROR_FILE names."""

    @functools.wraps(fn)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        try:
            return fn(*args, **kwargs)
        except Exception as error:
            if file := os.environ.get("TORCHELASTIC_ERROR_FILE"):
                note = {"py_callstack": traceback.format_exc(), "timestamp": str(int(time.time()))}
                with open(file, "w") as out:
                    json.dump({"message": {"message": f"{type(error).__name__}: {error}", "extraInfo": note}}, out)
            raise

    return recorded
