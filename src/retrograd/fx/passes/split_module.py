"""split_module: a graph as a module of modules."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from retrograd.fx.graph import Graph
from retrograd.fx.graph_module import GraphModule
from retrograd.fx.node import Node, map_arg
from retrograd.nn import Module

__all__ = ["Partition", "split_module"]


@dataclass
class Partition:
    """Nodes that become a module: what goes in, what comes out, and which others it needs."""

    name: str
    node_names: list[str] = field(default_factory=list)
    inputs: dict[Node, None] = field(default_factory=dict)
    outputs: dict[Node, None] = field(default_factory=dict)
    dependencies: dict[str, None] = field(default_factory=dict)
    graph: Graph = field(default_factory=Graph)
    environment: dict[Node, Node] = field(default_factory=dict)
    targets: dict[str, Any] = field(default_factory=dict)

    @property
    def submod_name(self) -> str:
        return f"submod_{''.join(c if c.isalnum() else '_' for c in self.name)}"


def split_module(
    m: GraphModule,
    root_m: Module,
    split_callback: Callable[[Node], Any],
    qualname_map: dict[str, str] | None = None,
    keep_original_order: bool | None = False,
    keep_original_node_name: bool | None = False,
    keep_original_input_name: bool = True,
    *,
    partition_affix: str | None = None,
) -> GraphModule:
    """A module that computes what `m` does through a submodule for each part of its graph.

    Args:
        root_m: where the modules and attributes that the graph names are.
        split_callback: gives for each node of the graph the name of its part.
        qualname_map: is filled with the old name of each attribute of the submodules, by the new one.
        keep_original_order: the parts stand as their first nodes do, not in the order in which they need each other.

    Raises:
        RuntimeError: where two parts need each other.
    """
    parts: dict[str, Partition] = {}
    home: dict[Node, Partition] = {}
    for node in m.graph.nodes:
        if node.op in ("placeholder", "get_attr", "output"):
            continue
        name = str(split_callback(node))
        if partition_affix is not None:
            name = f"{partition_affix}_{name}"
        home[node] = parts.setdefault(name, Partition(name))
        home[node].node_names.append(node.name)

    def use(user: Node, used: Node) -> None:
        there, here = home.get(used), home.get(user)
        if there is here:
            return
        if there is not None:
            there.outputs.setdefault(used)
        if here is not None:
            here.inputs.setdefault(used)
            if there is not None:
                here.dependencies.setdefault(there.name)

    for node in m.graph.nodes:
        map_arg((node.args, node.kwargs), lambda used, node=node: use(node, used))  # type: ignore[misc]
    order = list(parts) if keep_original_order else _sorted(parts)

    # The graphs of the parts.
    for part in parts.values():
        part.environment = {node: part.graph.placeholder(node.name) for node in part.inputs}
        for node, made in part.environment.items():
            made.meta = node.meta.copy()
    for node in m.graph.nodes:
        if node in home:
            part = home[node]
            copied = part.environment[node] = part.graph.node_copy(node, part.environment.__getitem__)
            if node.op == "call_module":
                copied.target = _moved(str(node.target), root_m, part, qualname_map)
    base = Graph()
    environment: dict[Node, Node] = {}
    holder: dict[str, Any] = {}
    for node in m.graph.nodes:
        if node.op in ("placeholder", "get_attr"):
            environment[node] = base.node_copy(node, environment.__getitem__)
            if node.op == "get_attr":
                holder[str(node.target)] = _attribute(root_m, str(node.target))
    for name in order:
        part = parts[name]
        results = tuple(part.environment[node] for node in part.outputs)
        part.graph.output(results[0] if len(results) == 1 else results)
        holder[part.submod_name] = GraphModule(part.targets, part.graph)
        call = base.call_module(part.submod_name, tuple(environment[node] for node in part.inputs))
        if len(part.outputs) == 1:
            environment[next(iter(part.outputs))] = call
        else:
            for i, node in enumerate(part.outputs):
                environment[node] = base.call_function(operator.getitem, (call, i))
    for node in m.graph.nodes:
        if node.op == "output":
            base.output(map_arg(node.args[0], environment.__getitem__))
    base._codegen = m.graph._codegen
    return GraphModule(holder, base)


def _attribute(root: Any, path: str) -> Any:
    for name in path.split("."):
        root = getattr(root, name)
    return root


def _moved(target: str, root: Module, part: Partition, names: dict[str, str] | None) -> str:
    """The name in a part of a module of the whole."""
    new = target.replace(".", "_")
    part.targets[new] = _attribute(root, target)
    if names is not None:
        names[f"{part.submod_name}.{new}"] = target
    return new


def _sorted(parts: dict[str, Partition]) -> list[str]:
    order: list[str] = []
    left = dict(parts)
    while left:
        ready = next((name for name, part in left.items() if all(d in order for d in part.dependencies)), None)
        if ready is None:
            raise RuntimeError(f"cycle exists between partitions! {list(left)}")
        order.append(ready)
        del left[ready]
    return order
