"""Graphs of autograd, walked from their roots without recursion."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any

from retrograd import _C


def roots_of(tensors: Iterable[Any]) -> list[Any]:
    """The nodes at which a backward from these tensors (or GradientEdges) begins."""
    nodes = []
    for tensor in tensors:
        node = tensor[0] if isinstance(tensor, tuple) else tensor.grad_fn
        if node is not None:
            nodes.append(node)
    return nodes


def is_leaf(tensor: Any) -> bool:
    """Whether a tensor is one; a view whose base was written to in another mode is none."""
    try:
        return bool(tensor.is_leaf)
    except RuntimeError:
        return False


def walk(roots: Iterable[Any]) -> list[Any]:
    """Every node that can be reached, each once, those behind a node after it in no particular order."""
    return _C._reachable([*roots])


def is_leaf_node(node: Any) -> bool:
    """Whether gradients end there, in a leaf."""
    return _C._is_leaf_node(node)


def saved(node: Any) -> Iterator[tuple[str, Any]]:
    """The tensors that a node has saved, by name, unless hooks keep them in another form: asking those may run the program. Those that were written to since, or
    freed, are left out: the value is not there any more."""
    for name in dir(node):
        if not name.startswith("_raw_saved_"):
            continue
        raw = getattr(node, name)
        for one in raw if isinstance(raw, tuple | list) else (raw,):
            if one is not None and one.unpack_hook is None and (value := _as_saved(one, "data")) is not None:
                yield name.removeprefix("_raw_saved_"), value


def _as_saved(owner: Any, name: str) -> Any:
    """What was saved; None where it was written to since or freed, which is an error for a backward alone."""
    try:
        return getattr(owner, name, None)
    except RuntimeError:
        return None


def saved_value(node: Any, name: str) -> Any:
    """A number or tensor that a node has saved; None where there is none, where hooks keep it, or where it was written to since or freed."""
    raw = getattr(node, f"_raw_saved_{name}", None)
    if raw is not None and raw.unpack_hook is not None:
        return None
    return _as_saved(node, f"_saved_{name}")


_sequence = operator.methodcaller("_sequence_nr")


class Graph:
    """The graph of one backward, walked once. Holds its nodes: drop it when the run is over."""

    def __init__(self, roots: Iterable[Any]) -> None:
        self.roots = roots_of(roots)
        self.nodes = sorted(walk(self.roots), key=_sequence)  # oldest first
        self.names = [node.name() for node in self.nodes]
        self.leaves = [node.variable for node in self.nodes if is_leaf_node(node)]
        leaves = {id(root) for root in roots if not isinstance(root, tuple) and root.grad_fn is None}
        self.leaves += [root for root in roots if id(root) in leaves and root.requires_grad]
