"""Graphs of autograd, walked from their roots without recursion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


def roots_of(tensors: Iterable[Any]) -> list[Any]:
    """The nodes at which a backward from these tensors (or GradientEdges) begins."""
    nodes = []
    for tensor in tensors:
        node = tensor[0] if isinstance(tensor, tuple) else tensor.grad_fn
        if node is not None:
            nodes.append(node)
    return nodes


def walk(roots: Iterable[Any]) -> Iterator[Any]:
    """Every node that can be reached, each once, a node before those behind it in no particular order."""
    seen: set[Any] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        yield node
        stack.extend(next_node for next_node, _ in node.next_functions if next_node is not None)


def is_leaf_node(node: Any) -> bool:
    """Whether gradients end there, in a leaf."""
    return str(node.name()).endswith("AccumulateGrad")


class Graph:
    """The graph of one backward, walked once. Holds its nodes: drop it when the run is over."""

    def __init__(self, roots: Iterable[Any]) -> None:
        self.roots = roots_of(roots)
        self.nodes = sorted(walk(self.roots), key=lambda node: node._sequence_nr())  # oldest first
        self.leaves = [node.variable for node in self.nodes if is_leaf_node(node)]
        leaves = {id(root) for root in roots if not isinstance(root, tuple) and root.grad_fn is None}
        self.leaves += [root for root in roots if id(root) in leaves and root.requires_grad]
