"""The types of results with names: `torch.max(x, 1)` is a `return_types.max(values=..., indices=...)`. Made when they are asked for."""

import importlib as _importlib
import typing as _typing

from retrograd import _C

_Result = _typing.TypeVar("_Result", bound=type)

# Results of functions written in Python.
_WRITTEN_IN_PYTHON = {
    "histogram": ("retrograd._ops.histogram", "histogram_result"),
    "histogramdd": ("retrograd._ops.histogram", "histogramdd_result"),
    "linalg_ldl_factor": ("retrograd._ops.linalg.systems", "_LdlResult"),
    "linalg_lstsq": ("retrograd._ops.linalg.rank", "_LstsqResult"),
    "slogdet": ("retrograd._ops.linalg.older", "_SlogdetResult"),
}


def _of(op: str) -> _typing.Callable[[_Result], _Result]:
    """Makes a NamedTuple the type of the results of `op`: printed and pickled as those of native functions are."""

    def named(cls: _Result) -> _Result:
        def __repr__(self: _typing.Any) -> str:
            return f"torch.return_types.{op}(\n" + ",\n".join(f"{k}={v!r}" for k, v in self._asdict().items()) + ")"

        cls.__name__ = cls.__qualname__ = op
        cls.__module__ = __name__
        cls.__repr__ = __repr__  # type: ignore[assignment]
        return cls

    return named


if _typing.TYPE_CHECKING:
    from retrograd._generated.return_types import *  # noqa: F403
    from retrograd._ops import histogram as _histogram
    from retrograd._ops.linalg import older as _older, rank as _rank, systems as _systems

    histogram = _histogram.histogram_result
    histogramdd = _histogram.histogramdd_result
    linalg_ldl_factor = _systems._LdlResult
    linalg_lstsq = _rank._LstsqResult
    slogdet = _older._SlogdetResult
else:

    def __getattr__(name):
        if name in _WRITTEN_IN_PYTHON:
            module, attribute = _WRITTEN_IN_PYTHON[name]
            return getattr(_importlib.import_module(module), attribute)
        for op in _C._op_names():
            if op.partition(".")[0] == name and (fields := _C._find_op(op).results):
                return _C._named_result(name, fields)
        raise AttributeError(f"no function of retrograd has results named {name!r}")

    def __dir__():
        return sorted(
            {op.partition(".")[0] for op in _C._op_names() if _C._find_op(op).results and not op.startswith("_")}
            | _WRITTEN_IN_PYTHON.keys()
        )
