"""A graph: a list of nodes in the order they run, and ways to build and change it."""

from __future__ import annotations

import contextlib
import copy
import re
import warnings
from collections.abc import Callable, Iterator
from inspect import Signature
from types import TracebackType
from typing import TYPE_CHECKING, Any

from retrograd.fx._codegen import CodeGen, Namespace as _Namespace, PythonCode, PyTreeCodeGen, PyTreeInfo, graph_code
from retrograd.fx.node import Argument, Node, Target, map_arg, nodes_in

if TYPE_CHECKING:
    from retrograd.fx.graph_module import GraphModule

__all__ = ["CodeGen", "Graph", "PythonCode"]

_PyTreeCodeGen, _PyTreeInfo = PyTreeCodeGen, PyTreeInfo


def _snake_case(text: str) -> str:
    """`LinearReLU` as `linear_relu`; digits belong to the word before them."""
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", text).lower()


class _InsertPoint:
    """Where new nodes go, until a `with` block ends."""

    def __init__(self, graph: Graph, new_insert: Callable[[Node], None]) -> None:
        self.graph = graph
        self.orig_insert, graph._insert = graph._insert, new_insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.graph._insert = self.orig_insert


class _node_list:
    """The nodes of a graph, which may be changed while it is walked over."""

    def __init__(self, graph: Graph, direction: str = "_next") -> None:
        if direction not in ("_next", "_prev"):
            raise AssertionError(f"direction must be '_next' or '_prev', got {direction!r}")
        self.graph, self.direction = graph, direction

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Node]:
        root, step = self.graph._root, self.direction
        node = getattr(root, step)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, step)

    def __reversed__(self) -> _node_list:
        return _node_list(self.graph, "_prev" if self.direction == "_next" else "_next")


class Graph:
    """A function as nodes: placeholders for its arguments, operations on them, and what it returns.

    Example::

        >>> graph = Graph()
        >>> x = graph.placeholder("x")
        >>> result = graph.output(graph.call_function(torch.relu, (x,)))
    """

    def __init__(
        self, owning_module: GraphModule | None = None, tracer_cls: type[Any] | None = None, tracer_extras: dict[str, Any] | None = None
    ) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._used_names: dict[str, int] = {}
        self._len = 0
        self._insert: Callable[[Node], None] = self._root.prepend
        self._graph_namespace = _Namespace()
        self._owning_module = owning_module
        self._owners = 0
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen = CodeGen()
        self._positions: dict[Node, int] | None = None

    # -- looking

    @property
    def nodes(self) -> _node_list:
        """The nodes, in the order they run."""
        return _node_list(self)

    @property
    def owning_module(self) -> GraphModule | None:
        """The module this is the graph of; None when there are several, or none."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, mod: GraphModule | None) -> None:
        self._owning_module = mod

    def output_node(self) -> Node:
        """The node that says what is returned."""
        last = self._root._prev
        if last.op != "output":
            raise AssertionError(f"Expected output node, got op={last.op}")
        return last

    def find_nodes(self, *, op: str, target: Target | None = None, sort: bool = True) -> list[Node]:
        """The nodes that do `op`, with this target if one is given."""
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    def _moved(self) -> None:
        self._positions = None

    def _order(self) -> dict[Node, int]:
        if self._positions is None:
            self._positions = {node: i for i, node in enumerate(self.nodes)}
        return self._positions

    # -- building

    def create_node(
        self,
        op: str,
        target: Target,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Adds a node where nodes are inserted at present."""
        args, kwargs = () if args is None else args, {} if kwargs is None else kwargs
        if not isinstance(args, tuple):
            raise AssertionError(f"args must be a tuple, got {type(args)}")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"kwargs must be a dict, got {type(kwargs)}")
        candidate = name if name is not None else self._target_to_str(target)
        found = self._graph_namespace.create_name(candidate, None)
        node = Node(self, found, op, target, args, kwargs, type_expr)
        if self.owning_module is not None:
            for hook in getattr(self.owning_module, "_create_node_hooks", ()):
                hook(node)
        self._graph_namespace.associate_name_with_obj(found, node)
        self._insert(node)
        self._len += 1
        self._moved()
        return node

    def _target_to_str(self, target: Any) -> str:
        text = target.__name__ if callable(target) else str(target)
        if text.startswith("__") and text.endswith("__") and len(text) > 4:
            text = text[2:-2]
        return _snake_case(text)

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = Signature.empty) -> Node:
        """An argument of the function; `*args` and `**kwargs` are written with their stars."""
        return self.create_node("placeholder", name, () if default_value is Signature.empty else (default_value,), type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """A parameter, buffer or other attribute of the module, by its path."""
        if self.owning_module is not None and not _has_attribute(self.owning_module, qualified_name):
            warnings.warn(
                "Attempted to insert a get_attr Node with no underlying reference in the owning GraphModule! Call "
                "GraphModule.add_submodule to add the necessary submodule, GraphModule.add_parameter to add the necessary Parameter, or "
                "nn.Module.register_buffer to add the necessary buffer",
                stacklevel=2,
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self,
        module_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """A call of a submodule, by its path."""
        if self.owning_module is not None and not _has_attribute(self.owning_module, module_name):
            warnings.warn(
                "Attempted to insert a call_module Node with no underlying reference in the owning GraphModule! Call "
                "GraphModule.add_submodule to add the necessary submodule",
                stacklevel=2,
            )
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self,
        method_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """A call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
        name: str | None = None,
    ) -> Node:
        """A call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result: Argument, type_expr: Any = None) -> Node:
        """What the function returns."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Argument] = lambda x: x) -> Node:
        """Adds a copy of a node of another graph; `arg_transform` takes nodes there to nodes here."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        if not isinstance(args, tuple) or not isinstance(kwargs, dict):
            raise AssertionError("the arguments of a node are a tuple and a dict")
        made = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        made.meta = copy.copy(node.meta)
        return made

    def graph_copy(self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False) -> Any:
        """Adds copies of all nodes of `g`; `val_map` gets to know which is which, and says of what is in it already that it is there.

        Returns:
            what `g` returns, in terms of the copies; None if it returns nothing.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    # -- changing

    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """In a `with` block, new nodes go before `n`, or to the beginning of the graph."""
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """In a `with` block, new nodes go after `n`, or to the end of the graph."""
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return _InsertPoint(self, n.append)

    def erase_node(self, to_erase: Node) -> None:
        """Takes out a node that nobody uses."""
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: {to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        if self.owning_module is not None:
            for hook in getattr(self.owning_module, "_erase_node_hooks", ()):
                hook(to_erase)
        to_erase._unlink()  # its own neighbours stay, for whoever stands here while walking over the nodes
        to_erase._erased = True
        self._len -= 1
        to_erase._set_arguments((), {})
        self._moved()

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Takes out what nobody uses and does nothing beside; whether anything was."""
        self.lint()
        impure = is_impure_node or Node.is_impure
        dead = 0
        for node in reversed(self.nodes):
            if not impure(node) and not node.users:
                self.erase_node(node)
                dead += 1
        return dead > 0

    def lint(self) -> None:
        """Raises unless each node stands after what it uses, names are unique, and targets exist in the module."""
        seen_names: set[str] = set()
        seen: set[Node] = set()
        for node in self.nodes:
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            for used in nodes_in(node.args, node.kwargs):
                if used.graph is not self:
                    raise RuntimeError(
                        f"Argument '{used}' of Node '{node}' does not belong to this Graph, but was used as an argument! If you are "
                        f"copying nodes from another graph, make sure to use ``arg_transform`` on node_copy() to remap values\n{self}"
                    )
                if used not in seen:
                    raise RuntimeError(
                        f"Argument '{used}' of Node '{node}' was used before it has been defined! Please check that Nodes in the graph "
                        f"are topologically ordered\n{self}"
                    )
            if node.name in seen_names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            seen.add(node)
            seen_names.add(node.name)
            if self.owning_module is not None and node.op in ("call_module", "get_attr"):
                _check_target(self.owning_module, node)

    # -- as code

    def python_code(self, root_module: str, **options: Any) -> PythonCode:
        """The function as Python, with the globals it needs; `root_module` is what it calls the module (`self`)."""
        return graph_code(self, root_module, **options)

    def set_codegen(self, codegen: CodeGen) -> None:
        """Another way of writing the function."""
        self._codegen = codegen

    def on_generate_code(
        self, make_transformer: Callable[[Callable[[list[str]], list[str]] | None], Callable[[list[str]], list[str]]]
    ) -> contextlib.AbstractContextManager[None]:
        """Changes the lines of the body whenever code is written; in a `with` block, until its end.

        `make_transformer` gets what did that until now, or None, and returns a function from lines to lines.
        """
        before = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(before)

        @contextlib.contextmanager
        def restoring() -> Iterator[None]:
            try:
                yield
            finally:
                self._codegen._body_transformer = before

        return restoring()

    def process_inputs(self, *args: Any) -> Any:
        """The arguments of the placeholders, from those of the function."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """The result of the function, from that of the output node."""
        return self._codegen.process_outputs(out)

    def print_tabular(self) -> None:
        """Prints the nodes as a table; needs the package `tabulate`."""
        try:
            from tabulate import tabulate  # type: ignore[import-untyped, import-not-found, unused-ignore]
        except ImportError:
            print(
                "`print_tabular` relies on the library `tabulate`, which could not be found on this machine. Run `pip install tabulate` "
                "to install the library."
            )
            raise
        rows = [[n.op, n.name, n.target, n.args, n.kwargs] for n in self.nodes]
        print(tabulate(rows, headers=["opcode", "name", "target", "args", "kwargs"]))

    def __str__(self) -> str:
        names: list[str] = []
        returns = [""]
        lines = [node.format_node(names, returns) for node in self.nodes]
        return "graph():" + "".join(f"\n    {line}" for line in lines if line)

    # -- copies

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Graph:
        made = Graph(tracer_cls=self._tracer_cls)
        memo = {} if memo is None else memo
        memo[id(self)] = made
        nodes: dict[Node, Node] = {}
        output = made.graph_copy(self, nodes, return_output_node=True)
        if output is not None:
            values, old = output
            new = made.output(values, old.type)
            new.meta = copy.copy(old.meta)
            nodes[old] = new
        made._codegen = copy.copy(self._codegen)
        made._tracer_extras = self._tracer_extras
        return made

    def __getstate__(self) -> dict[str, Any]:
        """Nodes by their place, so that pickling does not recurse along the list."""
        place = {node: i for i, node in enumerate(self.nodes)}
        rows = [
            (n.op, n.target, map_arg(n.args, lambda m: _Place(place[m])), map_arg(n.kwargs, lambda m: _Place(place[m])), n.name, n.type)
            for n in self.nodes
        ]
        return {"nodes": rows, "wrapped": [n.name for n in self.nodes if n.meta.get("is_wrapped")], "codegen": self._codegen}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]
        made: list[Node] = []
        for op, target, args, kwargs, name, kind in state["nodes"]:
            args, kwargs = (_with_nodes(part, made) for part in (args, kwargs))
            made.append(self.create_node(op, target, args, kwargs, name, kind))
            if name in state["wrapped"]:
                made[-1].meta["is_wrapped"] = True
        self._codegen = state["codegen"]

    def _clear_nodes(self) -> None:
        for node in reversed(self.nodes):
            node.users.clear()
            self.erase_node(node)


class _Place:
    """A node in a pickle: its place among the nodes."""

    def __init__(self, index: int) -> None:
        self.index = index


def _with_nodes(argument: Any, nodes: list[Node]) -> Any:
    from retrograd.fx.node import map_aggregate

    return map_aggregate(argument, lambda x: nodes[x.index] if isinstance(x, _Place) else x)


def _has_attribute(module: Any, path: str) -> bool:
    for name in path.split("."):
        if not hasattr(module, name):
            return False
        module = getattr(module, name)
    return True


def _check_target(module: Any, node: Node) -> None:
    path: list[str] = []
    for name in str(node.target).split("."):
        if not hasattr(module, name):
            where = ".".join(path)
            raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute {name} of {where}")
        module = getattr(module, name)
        path.append(name)
