"""The C++ functions of an op: what they take and give."""

from __future__ import annotations

from optable import Op


def return_type(op: Op) -> str:
    kinds = [r.row.cpp for r in op.returns]
    return kinds[0] if len(kinds) == 1 else f"std::tuple<{', '.join(kinds)}>"


def parameters(op: Op) -> str:
    """As in a definition."""
    return ", ".join(f"{p.row.cpp} {p.name}" for p in op.params)


def names(op: Op) -> str:
    """As in a call that hands them on."""
    return ", ".join(p.name for p in op.params)


def tensors(op: Op) -> str:
    return ", ".join(p.name for p in op.params if p.is_tensor)


def is_cpp(op: Op) -> bool:
    return op.kernel.kind != "python"


def is_function(op: Op) -> bool:
    """Whether there is a form out of place."""
    return bool(op.variants & {"function", "method", "internal"})
