"""Anomaly mode: says which line of the forward pass a failing backward belongs to.

Inside, every node records the traceback of the call that made it. When a backward fails, or computes a NaN, the exception carries
that traceback, and those of the nodes whose backward made it, if the graph is that of a gradient.

It is for finding bugs: recording tracebacks makes each operation several times slower (about 10 us more), and looking for NaN reads every
gradient once more.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

from retrograd import _C

__all__ = ["detect_anomaly", "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_anomaly_enabled", "set_detect_anomaly"]


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return _C._anomaly()[0]


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode looks for NaN in gradients."""
    return _C._anomaly()[1]


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Switches anomaly mode on or off."""
    _C._set_anomaly(enabled, check_nan)


# -- what a failing backward says ---------------------------------------------

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def _lines(trace: tuple[Any, ...]) -> list[str]:
    """The frames a node recorded as lines of a traceback, outermost first, without those of this package."""
    frames = [(code.co_filename, line, code.co_name, None) for code, line in zip(trace[::2], trace[1::2], strict=True)]
    mine = [f for f in reversed(frames) if not f[0].startswith(_PACKAGE)]
    import traceback  # which brings much along, and is seldom needed

    return traceback.format_list(mine or list(reversed(frames)))


def _explain(node: Any) -> str:
    """Which forward call a node comes from, and what made that call, for an error in its backward."""
    if node._forward_trace is None:
        story = (
            f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly during forward pass "
            "for more information."
        )
    else:
        story = f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n" + "".join(
            _lines(node._forward_trace)
        )
    stories = [story.rstrip()]
    parent = node._parent
    while parent is not None:
        story = f"Previous calculation was induced by {parent.name()}. "
        if parent._forward_trace is None:
            story += "No forward pass information available."
        else:
            story += "Traceback of forward call that induced the previous calculation:\n" + "".join(_lines(parent._forward_trace))
        stories.append(story.rstrip())
        parent = parent._parent
    _warn(stories[0])
    for story in stories[1:]:
        _warn("\n\n" + story)
    return "\n\n".join(stories)


def _warn(story: str) -> None:
    try:
        warnings.warn(story, stacklevel=3)
    except Warning:  # warnings are errors: the one that is under way must not be replaced, and the story is to be read all the same
        print(story, file=sys.stderr)


# -- switching it on and off --------------------------------------------------


class set_detect_anomaly:
    """Switches anomaly mode on or off: at once when called, until the end of the block in a ``with`` statement.

    Args:
        mode: on or off.
        check_nan: whether a gradient with a NaN is an error.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev = _C._anomaly()
        _C._set_anomaly(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: object) -> None:
        _C._set_anomaly(*self.prev)


class detect_anomaly:
    """Anomaly mode for a block: a failing backward says which forward call it belongs to.

    The forward pass must run inside the block for its lines to be known, the backward pass for NaN to be looked for.

    Args:
        check_nan: whether a gradient with a NaN is an error.

    Example::

        >>> with retrograd.autograd.detect_anomaly():
        ...     x = retrograd.tensor([-1.0], requires_grad=True)
        ...     y = x.sqrt().sum()
        ...     y.backward()
        Traceback (most recent call last):
            ...
        RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output. ...
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        self.prev: list[tuple[Any, Any]] = []
        warnings.warn(
            "Anomaly Detection has been enabled. It makes every operation slower: use it for debugging only.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self.prev.append(_C._anomaly())
        _C._set_anomaly(True, self.check_nan)

    def __exit__(self, *exc_info: object) -> None:
        _C._set_anomaly(*self.prev.pop())
