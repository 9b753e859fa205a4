"""torch.Stream and torch.Event: the order of work on a device. On the CPU work is done when a call returns, so there is nothing to wait for."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from retrograd import _C

__all__ = ["Event", "Stream", "get_device_module"]

_NO_EVENTS = "cpu backend doesn't support events."


def _cpu(device: Any) -> Any:
    device = _C.device("cpu" if device is None else device)
    if device.type != "cpu":
        raise RuntimeError(f"PyTorch is not linked with support for {device.type} devices: this build of retrograd computes on the CPU")
    return device


class Stream:
    """A queue of work."""

    def __init__(self, device: Any = None, *, priority: int = 0) -> None:
        self.device = _cpu(device)
        self.stream_id, self.device_index, self.device_type = 0, -1, 0

    def query(self) -> bool:
        """Whether all of its work is done."""
        return True

    def synchronize(self) -> None:
        """Waits for its work."""

    def wait_event(self, event: Event) -> None:
        """Lets later work wait for an event."""

    def wait_stream(self, stream: Stream) -> None:
        """Lets later work wait for that of another stream."""

    def record_event(self, event: Event | None = None) -> Event:
        """Marks this point of the stream."""
        raise RuntimeError(_NO_EVENTS)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream)

    def __hash__(self) -> int:
        return hash((self.stream_id, self.device_index))

    def __repr__(self) -> str:
        return f"torch.Stream device_type={self.device.type}, device_index={self.device_index}, stream_id={self.stream_id}"


class Event:
    """A point in a stream."""

    def __init__(self, device: Any = None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        self.device = _cpu(device)
        self.event_id = 0
        self._timed = enable_timing

    def record(self, stream: Stream | None = None) -> None:
        """Puts it behind the work so far."""
        raise RuntimeError(_NO_EVENTS)

    def query(self) -> bool:
        """Whether the work before it is done."""
        return True

    def synchronize(self) -> None:
        """Waits for the work before it."""

    def wait(self, stream: Stream | None = None) -> None:
        """Lets later work of a stream wait for it."""

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds between two events."""
        if not (self._timed and end_event._timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        raise ValueError("Both events must be recorded before calculating elapsed time.")

    def __repr__(self) -> str:
        return f"torch.Event device_type={self.device.type}, device_index=-1, event_flag={int(self._timed)}, event_id={self.event_id}"


def get_device_module(device: Any = None) -> ModuleType:
    """The module of a device's type: torch.cpu, torch.cuda."""
    kind = _C.device("cpu" if device is None else device).type
    package = __name__.partition(".")[0]
    try:
        return importlib.import_module(f"{package}.{kind}")
    except ModuleNotFoundError:
        raise RuntimeError(f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'.") from None
