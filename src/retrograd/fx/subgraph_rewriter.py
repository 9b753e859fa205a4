"""Replacing parts of a graph that look like a pattern."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import retrograd as torch
from retrograd import nn
from retrograd.fx._symbolic_trace import symbolic_trace
from retrograd.fx.graph import Graph
from retrograd.fx.graph_module import GraphModule, _assign_attr
from retrograd.fx.node import Node, nodes_in

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]

Pattern = Callable[..., Any] | Graph | GraphModule


class Match(NamedTuple):
    """Where a pattern was found: the node of the pattern that was looked for, and the nodes of the graph by those of the pattern."""

    anchor: Node
    nodes_map: dict[Node, Any]


@dataclass
class ReplacedPatterns:
    """A match, and the nodes that took its place."""

    anchor: Node
    nodes_map: dict[Node, Any]
    replacements: list[Node]


@dataclass
class InternalMatch:
    """A match as filters see it."""

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Any] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)


def _graph_of(pattern: Pattern) -> Graph:
    if isinstance(pattern, GraphModule):
        return pattern.graph
    return pattern if isinstance(pattern, Graph) else symbolic_trace(pattern).graph


class _Matcher:
    """Looks for one pattern in one graph."""

    def __init__(self, pattern: Graph, gm: GraphModule, ignore_literals: bool) -> None:
        self.pattern, self.gm, self.ignore_literals = pattern, gm, ignore_literals
        output = pattern.output_node()
        self.outputs = output.all_input_nodes
        self.placeholders = [n for n in pattern.nodes if n.op == "placeholder"]
        if not self.outputs or all(n.op == "placeholder" for n in self.outputs):
            raise AssertionError("the pattern has to return something that it computes")

    def matches(self) -> list[InternalMatch]:
        """All that do not share nodes, from the beginning of the graph."""
        found: list[InternalMatch] = []
        taken: set[Node] = set()
        for candidate in self.gm.graph.nodes:
            for mapping in self._outputs_from(candidate):
                inside = {n for p, n in mapping.items() if p.op != "placeholder" and isinstance(n, Node)}
                if inside & taken or not self._contained(mapping, inside):
                    continue
                taken |= inside
                found.append(
                    InternalMatch(self.outputs, mapping, [mapping.get(p) for p in self.placeholders], [mapping[p] for p in self.outputs])
                )
                break
        return found

    def _outputs_from(self, candidate: Node) -> Iterator[dict[Node, Any]]:
        """Ways to match with the first output at a node; further outputs may be anywhere."""
        first: dict[Node, Any] = {}
        if not self._match(self.outputs[0], candidate, first):
            return
        ways = [first]
        for output in self.outputs[1:]:
            longer = []
            for way in ways:
                for node in [way[output]] if output in way else self.gm.graph.nodes:
                    trial = dict(way)
                    if self._match(output, node, trial):
                        longer.append(trial)
            ways = longer
        yield from ways

    def _contained(self, mapping: dict[Node, Any], inside: set[Node]) -> bool:
        """Whether nobody outside uses what the replacement will not compute."""
        returned = {mapping[p] for p in self.outputs}
        return all(user in inside for n in inside if n not in returned and n.op != "get_attr" for user in n.users)

    def _match(self, pattern: Any, value: Any, mapping: dict[Node, Any]) -> bool:
        if isinstance(pattern, Node):
            if pattern in mapping:
                return mapping[pattern] is value or (not isinstance(value, Node) and mapping[pattern] == value)
            if pattern.op == "placeholder":
                mapping[pattern] = value
                return True
            if not isinstance(value, Node) or value in mapping.values() or not self._same(pattern, value):
                return False
            mapping[pattern] = value
            if self._match(pattern.args, value.args, mapping) and self._match(pattern.kwargs, value.kwargs, mapping):
                return True
            return self._match_normalized(pattern, value, mapping)
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

    def _match_normalized(self, pattern: Node, value: Node, mapping: dict[Node, Any]) -> bool:
        """Once more with both calls brought to one form: an argument by position is the same as by name."""
        module = self.pattern.owning_module or self.gm
        both = pattern.normalized_arguments(module), value.normalized_arguments(self.gm)
        return None not in both and self._match(both[0], both[1], mapping)

    def _same(self, pattern: Node, node: Node) -> bool:
        if pattern.op != node.op:
            return False
        if pattern.op == "get_attr":
            mine, theirs = (_attribute(m, str(n.target)) for m, n in ((self.pattern.owning_module, pattern), (self.gm, node)))
            return isinstance(mine, torch.Tensor) and isinstance(theirs, torch.Tensor)
        return pattern.target == node.target


def _attribute(module: Any, path: str) -> Any:
    for name in path.split("."):
        module = getattr(module, name, None)
    return module


def replace_pattern(gm: GraphModule, pattern: Pattern, replacement: Pattern) -> list[Match]:
    """Puts `replacement` wherever the graph of `gm` does what `pattern` does.

    Both are functions, modules or graphs with as many parameters. Matches do not overlap, and nothing inside one may be used outside.

    Returns:
        the matches, by nodes of the pattern.
    """
    done = _replace_pattern(gm, pattern, replacement)
    return [Match(anchor=r.anchor, nodes_map=r.nodes_map) for r in done]


def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: Pattern,
    replacement: Pattern | None = None,
    match_filters: list[Callable[[InternalMatch, Graph, Graph], bool]] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable[[InternalMatch, Graph, Graph], Graph] | None = None,
    node_name_match: str = "",
) -> list[ReplacedPatterns]:
    """`replace_pattern` for matches that all filters, called with the match, the graph and the pattern, agree to."""
    return _replace_pattern(gm, pattern, replacement, match_filters, ignore_literals, replacement_callback)


def _replace_pattern(
    gm: GraphModule,
    pattern: Pattern,
    replacement: Pattern | None,
    match_filters: list[Callable[[InternalMatch, Graph, Graph], bool]] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable[[InternalMatch, Graph, Graph], Graph] | None = None,
) -> list[ReplacedPatterns]:
    wanted = _graph_of(pattern)
    fixed = _graph_of(replacement) if replacement is not None else None
    matcher = _Matcher(wanted, gm, ignore_literals)
    matches = [m for m in matcher.matches() if all(f(m, gm.graph, wanted) for f in match_filters or ())]
    moved: dict[Node, Any] = {}  # what became of results that were replaced
    done = []
    for match in matches:
        if replacement_callback is not None:
            graph = replacement_callback(match, gm.graph, wanted)
        elif fixed is not None:
            graph = fixed
        else:
            raise AssertionError("Must provide either replacement GraphModule or replacement_callback")
        done.append(_put(gm, match, graph, moved))
    gm.recompile()
    for part in (replacement, pattern):
        if isinstance(part, nn.Module):
            _take_attributes(gm, part)
    return done


def _put(gm: GraphModule, match: InternalMatch, replacement: Graph, moved: dict[Node, Any]) -> ReplacedPatterns:
    """The replacement in the place of one match."""
    for key, value in match.nodes_map.items():
        if isinstance(value, Node) and value in moved and key.op == "placeholder":
            match.nodes_map[key] = moved[value]
    parameters = [n for n in replacement.nodes if n.op == "placeholder"]
    given = [match.nodes_map[p] for p in match.nodes_map if p.op == "placeholder"]
    order = [match.nodes_map.get(p) for p in match.anchors[0].graph.nodes if p.op == "placeholder"]
    if len(parameters) != len(order):
        raise AssertionError(f"the pattern has {len(order)} parameters and the replacement {len(parameters)}")
    values: dict[Any, Any] = dict(zip(parameters, order, strict=True))
    inside = [n for p, n in match.nodes_map.items() if p.op != "placeholder" and isinstance(n, Node)]
    last = max(inside + [n for n in given if isinstance(n, Node)])
    before = set(gm.graph.nodes)
    users = sorted(u for n in match.returning_nodes for u in n.users if u not in inside)
    with gm.graph.inserting_before(users[0] if users and users[0] > last else last._next):
        result = gm.graph.graph_copy(replacement, values)
    made = [n for n in gm.graph.nodes if n not in before]
    outputs = list(nodes_in(result))
    if len(outputs) != len(match.returning_nodes):
        raise AssertionError(f"the pattern returns {len(match.returning_nodes)} values and the replacement {len(outputs)}")
    for old, new in zip(match.returning_nodes, outputs, strict=True):
        old.replace_all_uses_with(new)
        moved[old] = new
    for node in sorted(inside, reverse=True):
        if not node.users:
            gm.graph.erase_node(node)
    return ReplacedPatterns(match.anchors[0], match.nodes_map, made)


def _take_attributes(gm: GraphModule, source: nn.Module) -> None:
    """What the graph names and the module lacks comes from the replacement."""
    for node in gm.graph.nodes:
        if node.op in ("call_module", "get_attr") and _attribute(gm, str(node.target)) is None:
            found = _attribute(source, str(node.target))
            if found is not None:
                _assign_attr(found, gm, str(node.target))
    gm.graph.lint()
