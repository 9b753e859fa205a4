"""Helpers of passes."""

from __future__ import annotations

from collections import deque

from retrograd import Tensor
from retrograd.fx.graph import Graph
from retrograd.fx.graph_module import GraphModule
from retrograd.fx.node import Node

__all__ = ["is_node_output_tensor", "legalize_graph", "stable_topological_sort"]


def is_node_output_tensor(node: Node) -> bool:
    """Whether ShapeProp has seen a tensor come out of the node."""
    kind = node.meta.get("type")
    return kind is not None and issubclass(kind, Tensor)


def legalize_graph(gm: GraphModule) -> GraphModule:
    """Puts the nodes into an order in which each stands behind those it uses, in place.

    Raises:
        RuntimeError: where nodes need each other.
    """
    waiting = {node: len(node.all_input_nodes) for node in gm.graph.nodes}
    ready = deque(node for node, count in waiting.items() if count == 0)
    graph, made = Graph(), dict[Node, Node]()
    while ready:
        node = ready.popleft()
        made[node] = graph.node_copy(node, lambda x: made[x])
        for user in node.users:
            waiting[user] -= 1
            if waiting[user] == 0:
                ready.append(user)
    if len(made) < len(waiting):
        raise RuntimeError(f"Input graph has cycles, unable to add {[node for node, count in waiting.items() if count]}")
    graph._codegen = gm.graph._codegen
    gm.graph = graph
    return gm


def stable_topological_sort(gm: GraphModule) -> GraphModule:
    """legalize_graph()"""
    return legalize_graph(gm)
