"""Questions about sizes that may be symbols. Here every size is a number, so each has its answer at once; what makes symbols is refused in words."""

from __future__ import annotations

import functools
import operator
import warnings
from typing import Any

import retrograd as torch
from retrograd._refusals import refused
from retrograd.fx.node import Node

_NAMES = """ShapeEnv SymbolicContext StatelessSymbolicContext StatefulSymbolicContext SubclassSymbolicContext SymIntSymbolicContext TrackedFake DimConstraints
StrictMinMaxConstraint RelaxedUnspecConstraint EqualityConstraint ConvertIntKey SymIntEqByExpr"""

globals().update(
    refused(
        __name__, _NAMES, NotImplementedError, "{name}: there are no symbolic sizes here; every size is a number when a graph is traced"
    )
)

__all__ = [
    "ConstraintViolationError", "GuardOnDataDependentSymNode", "PendingUnbackedSymbolNotFound", "canonicalize_bool_expr", "check_consistent", "constrain_range", "constrain_unify",
    "expect_true", "free_symbols", "free_unbacked_symbols", "guard_bool", "guard_float", "guard_int", "guard_or_false", "guard_or_true", "guard_scalar",
    "guard_size_oblivious", "guarding_hint_or_throw", "has_free_symbols", "has_free_unbacked_symbols", "has_static_value", "has_symbolic_sizes_strides", "is_accessor_node",
    "is_concrete_bool", "is_concrete_float", "is_concrete_int", "is_nested_int", "is_symbol_binding_fx_node", "is_symbolic", "optimization_hint", "statically_known_false",
    "statically_known_true", "sym_and", "sym_eq", "sym_or", *_NAMES.split(),
]  # fmt: skip


class GuardOnDataDependentSymNode(RuntimeError):
    """A decision needs the value of a symbol. To be caught: it is never raised here."""


class PendingUnbackedSymbolNotFound(RuntimeError):
    """A symbol was made and is not in any result. To be caught: it is never raised here."""


class ConstraintViolationError(RuntimeError):
    """A size is not what it was promised to be. To be caught: it is never raised here."""


def _expect(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise AssertionError(f"Expected {kind.__name__}, got {type(value) if kind is bool else value}")
    return value


def _concrete(value: Any, kind: type) -> bool:
    if not isinstance(value, kind):
        raise AssertionError(f"Expected Sym{kind.__name__.title()} or {kind.__name__}, got {type(value)}")
    return True


# -- decisions: whether something holds, guarded or known ---------------------------


def guard_bool(a: bool) -> bool:
    return bool(_expect(a, bool))


guard_or_false = guard_or_true = statically_known_true = guard_bool


def guard_size_oblivious(expr: bool) -> bool:
    warnings.warn("guard_size_oblivious will be removed. Use guard_or_false or guard_or_true", FutureWarning, stacklevel=2)
    return guard_bool(expr)


def statically_known_false(x: bool) -> bool:
    return not _expect(x, bool)


def expect_true(a: bool, skip: int = 0) -> bool:
    return bool(_expect(a, bool))


def guard_int(a: int) -> int:
    return int(_expect(a, int))


def guard_float(a: float) -> float:
    return float(_expect(a, float))


def guard_scalar(a: bool | float) -> bool | float:
    if not isinstance(a, (bool, int, float)):
        raise AssertionError(f"unrecognized scalar {a}")
    return a


# -- hints: a number is its own -----------------------------------------------------


def optimization_hint(a: int, fallback: int | None = None) -> int:
    return a


def guarding_hint_or_throw(a: int) -> int:
    return a


def constrain_range(a: int, *, min: int | None, max: int | None = None) -> None:  # PyTorch's names
    if (min is not None and a < min) or (max is not None and a > max):
        raise ValueError(f"Invalid value {a} for range [{'-int_oo' if min is None else min}:{'int_oo' if max is None else max}]")


def constrain_unify(a: int, b: int) -> None:
    if a != b:
        raise AssertionError(f"the sizes {a} and {b} are not the same")


# -- kinds: nothing is symbolic -----------------------------------------------------


def is_concrete_int(a: int) -> bool:
    return _concrete(a, int)


def is_concrete_float(a: float) -> bool:
    return _concrete(a, float)


def is_concrete_bool(a: bool) -> bool:
    return _concrete(a, bool)


def has_static_value(a: Any) -> bool:
    return isinstance(guard_scalar(a), (bool, int, float))


def is_symbolic(val: Any) -> bool:
    return False


is_nested_int = has_free_symbols = has_free_unbacked_symbols = is_symbolic


def has_symbolic_sizes_strides(elem: torch.Tensor) -> bool:
    return False


def free_symbols(val: Any) -> set[Any]:
    return set()


free_unbacked_symbols = free_symbols


def is_symbol_binding_fx_node(node: Node) -> None:
    return None


def is_accessor_node(node: Node) -> bool:
    """Whether a node reads a size, a stride or an element: what a symbol could be found by."""
    if node.op == "call_method":
        return node.target in ("size", "stride", "storage_offset", "item")
    return node.op == "call_function" and node.target in (operator.getitem, torch.Tensor.size, torch.Tensor.stride, torch.Tensor.item)


def canonicalize_bool_expr(expr: Any) -> Any:
    return expr


# -- values -------------------------------------------------------------------------


def sym_and(x: Any, *others: Any) -> Any:
    return functools.reduce(operator.and_, others, x)


def sym_or(x: Any, *others: Any) -> Any:
    return functools.reduce(operator.or_, others, x)


def sym_eq(x: Any, y: Any) -> bool:
    """Whether numbers, or sizes, are equal."""
    if isinstance(x, (list, tuple)) and isinstance(y, (list, tuple)):
        return len(x) == len(y) and all(sym_eq(a, b) for a, b in zip(x, y, strict=True))
    if isinstance(x, int) and isinstance(y, int):
        return x == y
    raise AssertionError(f"unexpected sym_eq between {type(x)} {type(y)}")


def check_consistent(new: Any, old: Any) -> None:
    """Raises where two tensors differ in shape, or two numbers in value."""
    if isinstance(new, torch.Tensor) and isinstance(old, torch.Tensor):
        new, old = new.shape, old.shape
    if isinstance(new, (tuple, int, float)) and new != old:
        raise RuntimeError(f"{old} != {new} (old != new)")
