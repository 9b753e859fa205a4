"""Drawings of graphs, by pydot."""

from __future__ import annotations

import hashlib
from typing import Any

from retrograd.fx.graph_module import GraphModule
from retrograd.fx.node import Node, nodes_in

__all__ = ["FxGraphDrawer"]

_OPS = {"placeholder": "AliceBlue", "call_module": "LemonChiffon1", "get_attr": "LightGrey", "output": "PowderBlue"}
_COLORS = (
    "CadetBlue1",
    "Coral",
    "DarkOliveGreen1",
    "DarkSeaGreen1",
    "GhostWhite",
    "Khaki1",
    "LavenderBlush1",
    "LightSkyBlue",
    "MistyRose1",
    "PaleTurquoise1",
)


class FxGraphDrawer:
    """A drawing of the graph of a module, and of each module in it that is one of a graph, too.

    Args:
        graph_module: what to draw; what `passes.shape_prop` noted is shown.
        name: of the drawing.
        ignore_getattr: leaves out what reads attributes.
        ignore_parameters_and_buffers: does not list those of the modules that are called.
        skip_node_names_in_args: arguments that are nodes are arrows, and not written as well.
        parse_stack_trace: shows the line of the program where it was noted.
        dot_graph_shape: of a node; records by default.
        normalize_args: shows calls with all arguments by name.
    """

    def __init__(
        self,
        graph_module: GraphModule,
        name: str,
        ignore_getattr: bool = False,
        ignore_parameters_and_buffers: bool = False,
        skip_node_names_in_args: bool = True,
        parse_stack_trace: bool = False,
        dot_graph_shape: str | None = None,
        normalize_args: bool = False,
    ) -> None:
        try:
            import pydot  # type: ignore[import-not-found,unused-ignore]
        except ImportError as error:
            raise RuntimeError(
                "FXGraphDrawer requires the pydot package to be installed. Please install pydot through your favorite Python package manager."
            ) from error
        self._pydot = pydot
        self._skips_getattr = ignore_getattr
        self._skips_state = ignore_parameters_and_buffers
        self._skips_names = skip_node_names_in_args
        self._shows_lines = parse_stack_trace
        self._normalizes = normalize_args
        self._shape = dot_graph_shape or "record"
        self._graphs = {name: self._draw(graph_module, name)}
        for path, module in graph_module.named_modules():
            if path and isinstance(module, GraphModule):
                self._graphs[f"{name}_{path.replace('.', '_')}"] = self._draw(module, f"{name}_{path}")
        self._name = name

    def get_dot_graph(self, submod_name: str | None = None) -> Any:
        """The drawing, or that of a module in it: a `pydot.Dot`."""
        return self.get_main_dot_graph() if submod_name is None else self.get_submod_dot_graph(submod_name)

    def get_main_dot_graph(self) -> Any:
        return self._graphs[self._name]

    def get_submod_dot_graph(self, submod_name: str) -> Any:
        return self._graphs[f"{self._name}_{submod_name}"]

    def get_all_dot_graphs(self) -> dict[str, Any]:
        return dict(self._graphs)

    def _draw(self, module: GraphModule, name: str) -> Any:
        drawing = self._pydot.Dot(name, rankdir="TB")
        shown = [node for node in module.graph.nodes if not (self._skips_getattr and node.op == "get_attr")]
        for node in shown:
            label = self._label(module, node)
            drawing.add_node(
                self._pydot.Node(
                    node.name, label=label, shape=self._shape, style='"filled,rounded"', fillcolor=_color(node), fontcolor="#000000"
                )
            )
        for node in shown:
            for source in nodes_in((node.args, node.kwargs)):
                if not (self._skips_getattr and source.op == "get_attr"):
                    drawing.add_edge(self._pydot.Edge(source.name, node.name))
        return drawing

    def _label(self, module: GraphModule, node: Node) -> str:
        lines = [f"name=%{node.name}", f"op_code={node.op}"]
        if node.op == "call_module":
            called = module.get_submodule(str(node.target))
            lines.append(f"{type(called).__module__}.{type(called).__qualname__}")
            lines += filter(None, [called.extra_repr()])
            if not self._skips_state:
                lines += [f"{name}: {tuple(value.shape)}" for name, value in [*called.named_parameters(), *called.named_buffers()]]
        else:
            lines.append(f"target={node._pretty_print_target(node.target)}")
        args, kwargs = node.args, node.kwargs
        normal = node.normalized_arguments(module) if self._normalizes else None
        if normal is not None:
            args, kwargs = normal
        lines += [f"args={self._written(args)}"] if args else []
        lines += [f"kwargs={self._written(kwargs)}"] if kwargs else []
        lines.append(f"num_users={len(node.users)}")
        noted = node.meta.get("tensor_meta")
        if noted is not None and hasattr(noted, "shape"):
            lines += [
                f"dtype={noted.dtype}",
                f"shape={tuple(noted.shape)}",
                f"requires_grad={noted.requires_grad}",
                f"stride={tuple(noted.stride)}",
            ]
        if self._shows_lines and node.stack_trace:
            lines.append(node.stack_trace.strip().splitlines()[-1].strip())
        return '"{' + r"\l".join(_escaped(line) for line in lines) + r"\l" + '}"'

    def _written(self, value: Any) -> str:
        if isinstance(value, Node):
            return "" if self._skips_names else f"%{value.name}"
        if isinstance(value, (list, tuple)):
            return "(" + ", ".join(filter(None, map(self._written, value))) + ")"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{k}: {self._written(v)}" for k, v in value.items()) + "}"
        return str(value)[:200]


def _color(node: Node) -> str:
    """Calls of one function have one colour."""
    known = _OPS.get(node.op)
    if known is not None:
        return known
    name = node._pretty_print_target(node.target)
    return _COLORS[int(hashlib.md5(name.encode(), usedforsecurity=False).hexdigest(), 16) % len(_COLORS)]


def _escaped(text: str) -> str:
    """For a label that is a record."""
    for character in '\\"{}<>|':
        text = text.replace(character, "\\" + character)
    return text
