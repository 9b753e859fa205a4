"""`make_fx`: the graph of the ops that a function runs, found by watching it run on tensors.

Unlike `symbolic_trace` this sees through all Python, derivatives and transforms included, and sees one run: what the program decides by
looking at values is decided. Nodes call ops of the table under PyTorch's names (`torch.ops.aten.mm.default`); composites appear as
the ops they are made of, and where PyTorch's are made of others, so is the graph.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Mapping
from typing import Any

import retrograd as torch
from retrograd import _C, nn
from retrograd.fx.graph import Graph
from retrograd.fx.graph_module import GraphModule
from retrograd.fx.node import Node, map_aggregate
from retrograd.utils import _pytree as pytree

__all__ = ["make_fx"]


class _Recorder:
    """An op handler that writes down what it sees."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.root = nn.Module()
        self.nodes: dict[int, Node] = {}  # by the id of a tensor
        self.places: dict[Any, Node] = {}  # by the memory of one, for aliases that autograd makes
        self.alive: list[torch.Tensor] = []  # so that ids stay what they are

    def know(self, tensor: torch.Tensor, node: Node) -> None:
        self.alive.append(tensor)
        self.nodes[id(tensor)] = node
        self.places[_place(tensor)] = node

    def node_of(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        found = self.nodes.get(id(value)) or self.places.get(_place(value))
        if found is None:
            kind = "_param_constant" if isinstance(value, nn.Parameter) else "_tensor_constant"
            name = next(f"{kind}{i}" for i in range(len(vars(self.root)) + len(self.alive) + 1) if not hasattr(self.root, f"{kind}{i}"))
            setattr(self.root, name, value)
            found = self.graph.get_attr(name)
            self.know(value, found)
        return found

    def __call__(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if op.composite:  # the ops it is made of come here too
            return op(*args, **kwargs)
        given = map_aggregate((args, kwargs), self.node_of)
        given_args, given_kwargs = _without_defaults(op, *given)
        node = self.graph.call_function(op, given_args, given_kwargs, name=op.name.partition(".")[0])
        result = op(*args, **kwargs)
        if isinstance(result, torch.Tensor):
            self.know(result, node)
        elif isinstance(result, (tuple, list)):
            for i, part in enumerate(result):
                if isinstance(part, torch.Tensor):
                    self.know(part, self.graph.call_function(operator.getitem, (node, i)))
        return result


def _place(tensor: torch.Tensor) -> Any:
    return tensor.untyped_storage().data_ptr(), tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), tensor.dtype


def _without_defaults(op: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments as a program would write them: dispatch hands on every one."""
    named = dict(kwargs)
    first: list[Any] = []
    for parameter, value in zip(op.parameters, args, strict=False):
        if parameter.keyword_only:
            named[parameter.name] = value
        else:
            first.append(value)
    by_name = {p.name: p for p in op.parameters}
    for name in [n for n, v in named.items() if n in by_name and _is_default(by_name[n], v)]:
        del named[name]
    while first and _is_default(op.parameters[len(first) - 1], first[-1]):
        first.pop()
    return tuple(first), named


def _is_default(parameter: Any, value: Any) -> bool:
    return not parameter.required and type(parameter.default) is type(value) and parameter.default == value


def make_fx(
    f: Callable[..., Any],
    decomposition_table: Mapping[Any, Callable[..., Any]] | None = None,
    tracing_mode: str = "real",
    _allow_non_fake_inputs: bool = False,
    *,
    pre_dispatch: bool = False,
    record_module_stack: bool = False,
    **options: Any,
) -> Callable[..., GraphModule]:
    """A function that runs `f` on its arguments and returns the graph of what that did.

    Args:
        decomposition_table: not there: ops are as the table has them.
        tracing_mode: "real" or "fake", which are the same here. Symbolic shapes are not there.
    """
    if decomposition_table:
        raise NotImplementedError("make_fx(decomposition_table=...): ops are recorded as the op table has them; rewrite the graph instead")
    if tracing_mode not in ("real", "fake"):
        raise NotImplementedError(
            f"make_fx(tracing_mode={tracing_mode!r}): a graph is of one set of shapes; only 'real' and 'fake' are there"
        )

    @functools.wraps(f)
    def traced(*args: Any, **kwargs: Any) -> GraphModule:
        recorder = _Recorder()
        if kwargs:
            raise NotImplementedError("make_fx: the traced function takes its arguments by position")
        names = _parameter_names(f, len(args))
        for name, value in zip(names, args, strict=True):
            for i, leaf in enumerate(pytree.tree_leaves(value)):
                node = recorder.graph.placeholder(f"{name}_{i + 1}")
                if isinstance(leaf, torch.Tensor):
                    recorder.know(leaf, node)
        _C._push_op_handler(recorder)
        try:
            result = f(*args)
        finally:
            _C._pop_op_handler()
        recorder.graph.output(pytree.tree_map(recorder.node_of, result))
        return GraphModule(recorder.root, recorder.graph, getattr(f, "__name__", type(f).__name__))

    return traced


def _parameter_names(f: Callable[..., Any], count: int) -> list[str]:
    try:
        named = [p.name for p in inspect.signature(f).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        named = []
    return named[:count] + [f"arg{i}" for i in range(len(named), count)]
