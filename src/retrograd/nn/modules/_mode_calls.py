"""The calls of train() and eval(), with their lines: what the doctor needs to say which one left a model in the wrong mode.

Of a call that goes down a tree of modules the outermost is noted. The notes hold no module.
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from typing import Any, NamedTuple

from retrograd import _C

depth = 0  # calls of train() that are running inside each other


class ModeCall(NamedTuple):
    module: Any  # a weak reference
    mode: bool
    site: tuple[str, int, str] | None
    step: int  # outermost backwards before it


calls: deque[ModeCall] = deque(maxlen=256)  # newest last


def note(module: Any, mode: bool) -> None:
    calls.append(ModeCall(weakref.ref(module), mode, _C._user_site(), _C._training_step()))
    watch = sys.modules.get("retrograd.doctor._watch")
    if watch is not None:
        watch.watcher.mode_called()
