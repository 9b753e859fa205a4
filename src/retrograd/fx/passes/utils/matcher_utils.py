"""Finding the parts of a graph that look like a pattern."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import retrograd as torch
from retrograd.fx.graph import Graph
from retrograd.fx.node import Node

__all__ = ["InternalMatch", "SubgraphMatcher"]


@dataclass
class InternalMatch:
    """Where a pattern was found.

    Args:
        anchors: the nodes of the pattern that were looked for first: those that nothing else of it uses.
        nodes_map: what stands in the graph for each node of the pattern; for a parameter that may be a number.
        placeholder_nodes: what stands for its parameters, in order.
        returning_nodes: what stands for its results.
        name_node_map: nodes of the graph by names that the pattern gives them; empty here.
    """

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Any] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)
    name_node_map: dict[str, Node] = field(default_factory=dict)


class SubgraphMatcher:
    """Looks for a pattern in graphs.

    Args:
        pattern: a graph; its parameters match anything, each something else.
        match_output: the results of the pattern have to be those of the graph.
        match_placeholder: its parameters have to be parameters of the graph.
        remove_overlapping_matches: a node belongs to one match at most.
        ignore_literals: numbers and strings in calls may differ.
    """

    def __init__(
        self,
        pattern: Graph,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
        ignore_literals: bool = False,
    ) -> None:
        self.pattern = pattern
        self.match_output = match_output
        self.match_placeholder = match_placeholder
        self.remove_overlapping_matches = remove_overlapping_matches
        self.ignore_literals = ignore_literals
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        output = pattern.output_node()
        self.pattern_placeholder_nodes = [n for n in pattern.nodes if n.op == "placeholder"]
        self.pattern_returning_nodes = output.all_input_nodes
        ends = [n for n in self.pattern_returning_nodes if list(n.users) == [output]]
        self.pattern_anchors = [output] if match_output else ends
        if all(n.op == "placeholder" for n in self.pattern_returning_nodes):
            raise AssertionError("the pattern has to return something that it computes")

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """The places where the graph does what the pattern does, from its beginning; nothing inside one but its results is used outside."""
        found: list[InternalMatch] = []
        taken: set[Node] = set()
        for candidate in graph.nodes:
            for mapping in self._from(candidate, graph):
                inside = {n for p, n in mapping.items() if p.op not in ("placeholder", "output") and isinstance(n, Node)}
                if (self.remove_overlapping_matches and inside & taken) or not self._contained(mapping, inside):
                    continue
                taken |= inside
                parameters = [mapping.get(p) for p in self.pattern_placeholder_nodes]
                found.append(InternalMatch(self.pattern_anchors, mapping, parameters, [mapping[p] for p in self.pattern_returning_nodes]))
                break
        return found

    def _from(self, candidate: Node, graph: Graph) -> Iterator[dict[Node, Any]]:
        """Ways to match with the first anchor at a node; further ones may be anywhere."""
        first: dict[Node, Any] = {}
        if not self._match(self.pattern_anchors[0], candidate, first):
            return
        ways = [first]
        for anchor in self.pattern_anchors[1:]:
            longer = []
            for way in ways:
                for node in graph.nodes:
                    trial = dict(way)
                    if self._match(anchor, node, trial):
                        longer.append(trial)
            ways = longer
        yield from ways

    def _contained(self, mapping: dict[Node, Any], inside: set[Node]) -> bool:
        """Whether nobody outside uses what is inside and no result."""
        returned = {mapping[p] for p in self.pattern_returning_nodes}
        return all(user in inside for n in inside if n not in returned and n.op != "get_attr" for user in n.users)

    def _match(self, pattern: Any, value: Any, mapping: dict[Node, Any]) -> bool:
        if isinstance(pattern, Node):
            return self._match_node(pattern, value, mapping)
        if isinstance(value, Node):
            return False
        if isinstance(pattern, (list, tuple)):
            return (
                isinstance(value, (list, tuple))
                and len(pattern) == len(value)
                and all(self._match(p, v, mapping) for p, v in zip(pattern, value, strict=True))
            )
        if isinstance(pattern, dict):
            return (
                isinstance(value, dict)
                and pattern.keys() == value.keys()
                and all(self._match(p, value[k], mapping) for k, p in pattern.items())
            )
        if isinstance(pattern, slice):
            parts = ("start", "stop", "step")
            return isinstance(value, slice) and all(self._match(getattr(pattern, p), getattr(value, p), mapping) for p in parts)
        return self.ignore_literals or (type(pattern) is type(value) and pattern == value)

    def _match_node(self, pattern: Node, value: Any, mapping: dict[Node, Any]) -> bool:
        if pattern in mapping:
            return mapping[pattern] is value or (not isinstance(value, Node) and mapping[pattern] == value)
        if isinstance(value, Node) and any(value is n for n in mapping.values()):
            return False
        if pattern.op == "placeholder":
            if self.match_placeholder and not (isinstance(value, Node) and value.op == "placeholder"):
                return False
            mapping[pattern] = value
            return True
        if not isinstance(value, Node) or not self._same(pattern, value):
            return False
        before = dict(mapping)
        mapping[pattern] = value
        if self._match(pattern.args, value.args, mapping) and self._match(pattern.kwargs, value.kwargs, mapping):
            return True
        mapping.clear()
        mapping.update(before)
        return False

    def _same(self, pattern: Node, node: Node) -> bool:
        if pattern.op != node.op:
            return False
        if pattern.op == "get_attr":
            both = (attribute(n.graph.owning_module, str(n.target)) for n in (pattern, node))
            return all(isinstance(value, torch.Tensor) for value in both)
        return pattern.op == "output" or pattern.target == node.target


def attribute(module: Any, path: str) -> Any:
    """What a dotted name stands for, or None."""
    for name in path.split("."):
        module = getattr(module, name, None)
    return module
