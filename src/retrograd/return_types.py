"""The types of results with names: `torch.max(x, 1)` is a `return_types.max(values=..., indices=...)`. Made when they are asked for."""

from __future__ import annotations

import re
from typing import Any

from retrograd import _C


def __getattr__(name: str) -> Any:
    for op in _C._op_names():
        if op == name or op.startswith(name + "."):
            results = re.fullmatch(r".*-> \((.*)\)", _C._find_op(op).schema)
            if results:
                return _C._named_result(name, tuple(result.split()[-1] for result in results[1].split(", ")))
    raise AttributeError(f"no function of retrograd has results named {name!r}")
