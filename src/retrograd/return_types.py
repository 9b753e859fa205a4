"""The types of results with names: `torch.max(x, 1)` is a `return_types.max(values=..., indices=...)`. Made when they are asked for."""

import re as _re
import typing as _typing

from retrograd import _C

if _typing.TYPE_CHECKING:
    from retrograd._generated.return_types import *  # noqa: F403
else:

    def _fields(op):
        """The names of the results of an op; None when it has one, or they have no names."""
        results = _re.fullmatch(r".*-> \((\w+ \w+(?:, \w+ \w+)*)\)", _C._find_op(op).schema)
        names = tuple(result.split()[1] for result in results[1].split(", ")) if results else ()
        return None if names == tuple(f"result{i}" for i in range(len(names))) else names

    def __getattr__(name):
        for op in _C._op_names():
            if (op == name or op.startswith(name + ".")) and (fields := _fields(op)):
                return _C._named_result(name, fields)
        raise AttributeError(f"no function of retrograd has results named {name!r}")

    def __dir__():
        return sorted({op.partition(".")[0] for op in _C._op_names() if _fields(op) and not op.startswith("_")})
