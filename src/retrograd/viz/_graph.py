"""What `viz.graph` gives: the nodes as plain data, and the forms they are shown in."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from retrograd import Tensor
from retrograd._files import write_text
from retrograd._pages import framed
from retrograd.viz import _draw, _page
from retrograd.viz._collect import Node, collect
from retrograd.viz._layout import Tree
from retrograd.viz._modules import assign


class Graph:
    """An autograd graph as it was when `viz.graph` looked at it.

    Holds no tensor and no node of it: only what is to be shown, and weak references to the leaves, whose gradients are read when
    a page is made.
    """

    def __init__(self, nodes: list[Node], edges: list[tuple[int, int]], total_saved: int, classes: Mapping[str, str], title: str) -> None:
        self.nodes, self.edges, self.total_saved, self.title = nodes, edges, total_saved, title
        self.tree = Tree([node.module for node in nodes], edges, dict(classes))

    def __repr__(self) -> str:
        leaves = sum(node.leaf is not None for node in self.nodes)
        return f"<retrograd.viz.Graph: {len(self.nodes):,} nodes, {leaves:,} of them leaves, {len(self.edges):,} edges>"

    def html(self) -> str:
        """The page: zoom, search, modules that fold, saved tensors, gradients, lines."""
        return _page.render(self)

    def dot(self) -> str:
        """The graph for Graphviz; modules are clusters."""
        return _draw.dot(self)

    def svg(self, depth: int | None = None) -> str:
        """A drawing; modules further down than `depth` are one box each, and all is shown without it."""
        return _draw.svg(self, depth)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the form that the name asks for: .html, .svg or .dot (.gv). A file is written whole or not at all."""
        suffix = os.path.splitext(os.fspath(path))[1].lower()
        forms = {".html": self.html, ".htm": self.html, ".svg": self.svg, ".dot": self.dot, ".gv": self.dot}
        if suffix not in forms:
            raise ValueError(f"viz.Graph.save: the name has to end in .html, .svg or .dot, got {os.fspath(path)!r}")
        write_text(path, forms[suffix]())

    def _repr_html_(self) -> str:
        return framed(self.html(), 640)


def graph(
    loss: Tensor | Iterable[Tensor],
    *,
    model: Any = None,
    names: Mapping[str, Tensor] | None = None,
    gradients: bool = False,
    title: str | None = None,
) -> Graph:
    """The autograd graph of a tensor, or of several, to look at.

    Nodes show what they saved for backward and the line that made them. With `model` they are grouped by module: exactly where the
    forward ran under `viz.watch(model)`, else as far as parameters tell. The norms of leaves' gradients are read when the page is
    made, so that a page made after backward() has them.

    Args:
        loss: what backward would start from.
        model: names parameters and groups nodes.
        names: further names of leaves.
        gradients: notes the norm of what reaches every node in the backwards that follow, not of leaves alone; that costs time in each.
        title: of the page.

    Example:
        >>> import retrograd as torch
        >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
        >>> loss = model(torch.randn(3, 4)).square().mean()
        >>> graph = torch.viz.graph(loss, model=model)
        >>> [node.name for node in graph.nodes][-2:]
        ['PowBackward0', 'MeanBackward0']
    """
    tensors = [loss] if isinstance(loss, Tensor) else list(loss)
    parameters = {} if model is None else dict(model.named_parameters())
    nodes, edges, total_saved = collect(tensors, {**parameters, **(names or {})}, gradients)
    classes: dict[str, str] = {}
    if model is not None:
        assign(nodes, edges, model, set(parameters))
        classes = {path: type(module).__name__ for path, module in model.named_modules()}
    if title is None:
        title = f"Autograd graph of {type(model).__name__}" if model is not None else "Autograd graph"
    return Graph(nodes, edges, total_saved, classes, title)
