"""A graph as text for others to draw: DOT, and SVG drawn here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrograd._memory import _readable
from retrograd._pages import escape
from retrograd.viz._collect import Node
from retrograd.viz._layout import HEAD, Box, place, route, width_of

if TYPE_CHECKING:
    from retrograd.viz._graph import Graph

FILLS = {"leaf": "#cfe8d5", "op": "#dbe6f8", "function": "#e8dcf5", "module": "#eceff3"}


def kind_of(node: Node) -> str:
    return "leaf" if node.leaf is not None else "function" if node.custom else "op"


def words_of(node: Node) -> tuple[str, str]:
    """The two lines of a node's box: what it is, and what it holds."""
    if node.leaf is not None:
        return node.label or "leaf", node.sizes
    return node.name, f"saves {_readable(node.bytes)}" if node.bytes else ""


def module_words(graph: Graph, module: int) -> tuple[str, str]:
    """Of a folded module: its name and class, and how many nodes are inside."""
    tree = graph.tree
    path, kind = tree.paths[module - tree.count], tree.classes[module - tree.count]
    return f"{path} ({kind})" if kind else path, "folded"


def widths_of(graph: Graph) -> list[float]:
    tree = graph.tree
    modules = range(tree.count, tree.root)
    return [width_of(words_of(node)) for node in graph.nodes] + [width_of(module_words(graph, m)) + HEAD for m in modules]


# -- DOT ----------------------------------------------------------------------


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def dot(graph: Graph) -> str:
    tree = graph.tree
    lines = ["digraph autograd {", '  node [shape=box, style="filled,rounded", color="#8a94a3", fontname="sans-serif", fontsize=10];']
    stack = [(tree.root, 1, False)]
    while stack:
        member, depth, closing = stack.pop()
        space = "  " * depth
        if closing:
            lines.append("  " * (depth - 1) + "}")
        elif member < tree.count:
            node = graph.nodes[member]
            place_words = f", tooltip={quoted('{}:{}'.format(*node.site))}" if node.site else ""
            label = quoted("\n".join(filter(None, words_of(node))))
            lines.append(f'{space}n{member} [label={label}, fillcolor="{FILLS[kind_of(node)]}"{place_words}];')
        else:
            inner = depth
            if member != tree.root:
                lines += [f"{space}subgraph cluster_{member} {{", f"{space}  label={quoted(module_words(graph, member)[0])};"]
                inner += 1
                stack.append((member, inner, True))
            stack += [(inside, inner, False) for inside in reversed(tree.members[member])]
    lines += [f"  n{a} -> n{b};" for a, b in graph.edges]
    return "\n".join([*lines, "}"]) + "\n"


# -- SVG ----------------------------------------------------------------------


def svg(graph: Graph, depth: int | None) -> str:
    tree = graph.tree
    folded = tree.folded_below(depth)
    boxes = place(tree, widths_of(graph), folded)
    root = boxes[tree.root]
    assert root is not None
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {root[2]:.0f} {root[3]:.0f}" width="{root[2]:.0f}" height="{root[3]:.0f}" '
            'font-family="system-ui, sans-serif" font-size="12">'
        ),
        (
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
            '<path d="M0,0 L8,4 L0,8 z" fill="#8a94a3"/></marker></defs>'
        ),
    ]
    for module in reversed(tree.inner_first()):  # frames, the outer ones below
        box = boxes[module]
        if box is not None and module != tree.root and module not in folded:
            parts.append(rectangle(box, "#f6f7f9", module_words(graph, module)[0], ""))
            parts.append(text(box[0] + 10, box[1] + 16, module_words(graph, module)[0], "start", 11, "#5a6472"))
    seen: dict[tuple[int, int], None] = {}
    for a, b in graph.edges:
        seen[shown(a, tree.parent, folded), shown(b, tree.parent, folded)] = None
    for a, b in seen:
        if a != b:
            parts.append(curve(route(tree, boxes, a, b)))
    for member in range(tree.root):
        box = boxes[member]
        if box is None or (member >= tree.count and member not in folded):
            continue
        if member < tree.count:
            node = graph.nodes[member]
            above, below, fill = *words_of(node), FILLS[kind_of(node)]
            hint = "\n".join(
                filter(None, [node.name, "{}:{}".format(*node.site) if node.site else "", *(f"{s.name}: {s.words}" for s in node.saved)])
            )
        else:
            above, below = module_words(graph, member)
            fill, hint = FILLS["module"], above
        parts.append(rectangle(box, fill, hint, ' stroke="#8a94a3"'))
        middle, centre = box[0] + box[2] / 2, box[1] + box[3] / 2
        parts.append(text(middle, centre + (-2 if below else 4), above, "middle", 12, "#1d2530"))
        if below:
            parts.append(text(middle, centre + 12, below, "middle", 10, "#5a6472"))
    return "\n".join([*parts, "</svg>"]) + "\n"


def shown(member: int, parent: list[int], folded: set[int]) -> int:
    """The member itself, or the outermost folded module around it."""
    found = member
    while member >= 0:
        if member in folded:
            found = member
        member = parent[member]
    return found


def rectangle(box: Box, fill: str, hint: str, more: str) -> str:
    x, y, w, h = box
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="6" fill="{fill}"{more}><title>{escape(hint)}</title></rect>'


def text(x: float, y: float, words: str, anchor: str, size: int, fill: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{fill}">{escape(words)}</text>'


def curve(points: list[tuple[float, float]]) -> str:
    """A line through points that leaves and arrives upright."""
    (x, y), *rest = points
    path = [f"M{x:.1f},{y:.1f}"]
    for to_x, to_y in rest:
        bend = min(60.0, max(12.0, abs(to_y - y) / 2))
        path.append(f"C{x:.1f},{y + bend:.1f} {to_x:.1f},{to_y - bend:.1f} {to_x:.1f},{to_y:.1f}")
        x, y = to_x, to_y
    return f'<path d="{" ".join(path)}" fill="none" stroke="#8a94a3" marker-end="url(#tip)"/>'
