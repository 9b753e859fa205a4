"""Replacing parts of a graph that look like a pattern."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from retrograd import nn
from retrograd.fx._symbolic_trace import symbolic_trace
from retrograd.fx.graph import Graph
from retrograd.fx.graph_module import GraphModule, _assign_attr
from retrograd.fx.node import Node, nodes_in
from retrograd.fx.passes.utils.matcher_utils import InternalMatch, SubgraphMatcher, attribute

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


def _graph_of(pattern: Pattern) -> Graph:
    if isinstance(pattern, GraphModule):
        return pattern.graph
    return pattern if isinstance(pattern, Graph) else symbolic_trace(pattern).graph


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
    matcher = SubgraphMatcher(wanted, ignore_literals=ignore_literals)
    matches = [m for m in matcher.match(gm.graph) if all(f(m, gm.graph, wanted) for f in match_filters or ())]
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
        if node.op in ("call_module", "get_attr") and attribute(gm, str(node.target)) is None:
            found = attribute(source, str(node.target))
            if found is not None:
                _assign_attr(found, gm, str(node.target))
    gm.graph.lint()
