"""Stores: where processes leave notes for each other. Those of one process are dictionaries."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

__all__ = ["FileStore", "HashStore", "PrefixStore", "Store", "TCPStore"]


class Store:
    """Values under keys."""

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}
        self._changed = threading.Condition()
        self.timeout = timedelta(seconds=300)

    def set(self, key: str, value: Any) -> None:
        """Puts a value under a key."""
        with self._changed:
            self._values[key] = value.encode() if isinstance(value, str) else bytes(value)
            self._changed.notify_all()

    def get(self, key: str) -> bytes:
        """The value of a key, waited for as long as the timeout."""
        self.wait([key])
        return self._values[key]

    def add(self, key: str, amount: int) -> int:
        """Adds to a counter and returns it."""
        with self._changed:
            total = int(self._values.get(key, b"0")) + amount
            self._values[key] = str(total).encode()
            self._changed.notify_all()
            return total

    def append(self, key: str, value: Any) -> None:
        """Puts a value behind that of a key."""
        with self._changed:
            self._values[key] = self._values.get(key, b"") + (value.encode() if isinstance(value, str) else bytes(value))
            self._changed.notify_all()

    def compare_set(self, key: str, expected_value: str, desired_value: str) -> bytes:
        """Replaces a value that is the expected one, and returns what is there then."""
        with self._changed:
            if self._values.get(key, b"").decode() == expected_value:
                self._values[key] = desired_value.encode()
                self._changed.notify_all()
            return self._values.get(key, expected_value.encode())

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Waits until all keys are there."""
        seconds = (self.timeout if timeout is None else timeout).total_seconds()
        with self._changed:
            if not self._changed.wait_for(lambda: all(key in self._values for key in keys), seconds):
                raise RuntimeError(f"wait timeout after {int(seconds * 1000)}ms, keys: {', '.join(keys)}")

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are there."""
        return all(key in self._values for key in keys)

    def delete_key(self, key: str) -> bool:
        """Forgets a key; whether it was there."""
        with self._changed:
            return self._values.pop(key, None) is not None

    def num_keys(self) -> int:
        """The number of keys."""
        return len(self._values)

    def set_timeout(self, timeout: timedelta) -> None:
        """How long get() and wait() wait."""
        self.timeout = timeout


class HashStore(Store):
    """A store in the memory of the process."""


class FileStore(Store):
    """A store in a file, for one process: in memory."""

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        super().__init__()
        _refuse_more(world_size)
        self.path = file_name


class TCPStore(Store):
    """A store that processes reach over the network, for one process: in memory."""

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: timedelta | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        _refuse_more(world_size or 1)
        if not is_master:
            raise RuntimeError(f"TCPStore: a connection to {host_name}:{port} would lead to another process, and there are none here")
        self.host, self.port = host_name, port
        if timeout is not None:
            self.timeout = timeout


class PrefixStore(Store):
    """A part of another store: keys with something in front."""

    def __init__(self, prefix: str, store: Store) -> None:
        super().__init__()
        self.prefix, self.underlying_store = prefix, store
        self._values, self._changed = _Prefixed(prefix, store._values), store._changed


class _Prefixed(dict[str, bytes]):
    def __init__(self, prefix: str, values: dict[str, bytes]) -> None:
        self._prefix, self._of = prefix, values

    def __getitem__(self, key: str) -> bytes:
        return self._of[f"{self._prefix}/{key}"]

    def __setitem__(self, key: str, value: bytes) -> None:
        self._of[f"{self._prefix}/{key}"] = value

    def __contains__(self, key: object) -> bool:
        return f"{self._prefix}/{key}" in self._of

    def get(self, key: str, default: Any = None) -> Any:
        return self._of.get(f"{self._prefix}/{key}", default)

    def pop(self, key: str, default: Any = None) -> Any:
        return self._of.pop(f"{self._prefix}/{key}", default)

    def __len__(self) -> int:
        return len(self._of)


def _refuse_more(world_size: int) -> None:
    if world_size > 1:
        raise NotImplementedError(f"a store for {world_size} processes: retrograd computes in one process, and its world has size 1")
