"""Taking the arguments of a traced function apart by the structure they were traced with."""

from __future__ import annotations

from typing import Any

from retrograd.utils import _pytree as pytree


def tree_flatten_spec(tree: Any, spec: pytree.TreeSpec) -> list[Any]:
    """The parts of `tree`, a list of arguments, that stand where `spec` has leaves."""
    return pytree._prefix_leaves(tuple(tree), spec)
