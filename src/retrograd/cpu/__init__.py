"""torch.cpu: the CPU as one of the devices that programs ask about by the same names."""

from __future__ import annotations

import contextlib
from typing import Any

from retrograd.cpu import amp as amp

__all__ = [
    "Event", "Stream", "StreamContext", "current_device", "current_stream", "device_count", "get_capabilities", "is_available",
    "is_initialized", "set_device", "stream", "synchronize",
]  # fmt: skip


class Stream:
    """The order of work on the CPU: there is one, and everything is done when it is called."""

    def __init__(self, priority: int = -1) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        """There is nothing to wait for."""

    def record_event(self, event: Any = None) -> None:
        """There is nothing to wait for."""

    def wait_event(self, event: Any) -> None:
        """There is nothing to wait for."""


class Event:
    """A moment in the work on the CPU: it has always come."""

    def query(self) -> bool:
        """Whether the work before it is done."""
        return True

    def record(self, stream: Any = None) -> None:
        """Nothing has to be noted."""

    def synchronize(self) -> None:
        """There is nothing to wait for."""

    def wait(self, stream: Any = None) -> None:
        """There is nothing to wait for."""


_stream = Stream()


class StreamContext(contextlib.AbstractContextManager[None]):
    """A block whose work is in a stream."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: Any) -> None:
        pass


def stream(stream: Any) -> StreamContext:
    """A block whose work is in a stream."""
    return StreamContext(stream)


def current_stream(device: Any = None) -> Stream:
    """The stream of the CPU."""
    return _stream


def is_available() -> bool:
    """There is always a CPU."""
    return True


def is_initialized() -> bool:
    """It needs no start."""
    return True


def device_count() -> int:
    """One, whatever the number of cores."""
    return 1


def current_device() -> str:
    """The CPU."""
    return "cpu"


def set_device(device: Any) -> None:
    """There is nothing to choose."""


def synchronize(device: Any = None) -> None:
    """Everything is done when it is called."""


def get_capabilities() -> dict[str, Any]:
    """What is known of the processor."""
    import platform

    return {"architecture": platform.machine()}
