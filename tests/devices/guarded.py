"""The device of csrc/testing/guarded.h: the CPU's kernels in memory that nobody may touch outside a kernel, and what was touched all the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import retrograd

_C: Any = retrograd._C
_C._register_guarded()
DEVICE = retrograd.device("guarded")


class Engine:
    """retrograd with its tensors on the device, for the harness of the op table."""

    __name__ = "retrograd"

    @staticmethod
    def tensor(values: Any, dtype: Any = None) -> Any:
        return retrograd.tensor(values, dtype=dtype).to(DEVICE)

    def __getattr__(self, name: str) -> Any:
        return getattr(retrograd, name)


engine = Engine()


@contextmanager
def watched() -> Iterator[list[tuple[str | None, str]]]:
    """Collects the touches from outside kernels, each with the op that was entered last."""
    faults: list[tuple[str | None, str]] = []
    _C._guarded_faults()
    _C._name_ops(True)
    try:
        yield faults
    finally:
        _C._name_ops(False)
        faults += _C._guarded_faults()
