"""Reads a graph: every node once, inputs before those that use them, as plain data."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import retrograd
from retrograd import _C, Tensor
from retrograd._cuts import explain

LEAF = "torch::autograd::AccumulateGrad"


@dataclass(slots=True)
class Saved:
    """A tensor that a node keeps for backward."""

    name: str
    words: str  # shape and dtype, or why there is nothing to tell
    bytes: int = 0
    parameter: bool = False  # the memory of a leaf, which would be there anyway


@dataclass(slots=True)
class Node:
    """A node of the graph, without a reference to it."""

    name: str
    site: tuple[str, int] | None
    sequence: int
    custom: bool = False  # of a Function written in Python
    saved: list[Saved] = field(default_factory=list)
    label: str = ""  # the name of a leaf
    sizes: str = ""  # of a leaf
    module: str = ""
    leaf: weakref.ref[Tensor] | None = None
    norms: list[float] = field(default_factory=list)  # of what reached it, by output, in the last backward

    bytes: int = field(init=False)  # that it keeps, beside the memory of leaves

    def __post_init__(self) -> None:
        self.bytes = sum(saved.bytes for saved in self.saved if not saved.parameter)

    def norm(self) -> float | None:
        """Of the gradient: a leaf's as it is now, another's as it was in the last backward."""
        if self.leaf is None:
            return math.hypot(*self.norms) if self.norms else None
        leaf = self.leaf()
        return None if leaf is None or leaf.grad is None else norm_of(leaf.grad)


def norm_of(grad: Tensor) -> float:
    with retrograd.no_grad():
        values = grad.detach()
        if values.layout != retrograd.strided:
            values = values.coalesce().values() if values.layout == retrograd.sparse_coo else values.values()
        if values.numel() == 0:
            return 0.0
        return float(retrograd.linalg.vector_norm(values.to(retrograd.complex128 if values.is_complex() else retrograd.float64)))


def roots_of(tensors: Iterable[Any]) -> list[Any]:
    found = []
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"viz.graph: expected a tensor or several, got {type(tensor).__name__}")
        if not tensor.requires_grad:
            raise RuntimeError(f"viz.graph: the tensor does not require grad and has no graph to show{explain(tensor)}")
        found.append(_C._gradient_edge(tensor)[0])
    if not found:
        raise ValueError("viz.graph: there is no tensor to show the graph of")
    return list(dict.fromkeys(found))


def in_order(roots: list[Any]) -> tuple[list[Any], list[tuple[int, int]]]:
    """All nodes, inputs first, and edges between their numbers in the direction of forward."""
    place: dict[Any, int] = {}
    met = set()
    for root in roots:
        stack = [] if root in met else [(root, iter(inputs_of(root)))]
        met.add(root)
        while stack:
            node, inputs = stack[-1]
            deeper = next((other for other in inputs if other not in met), None)
            if deeper is None:
                place[node] = len(place)
                stack.pop()
            else:
                met.add(deeper)
                stack.append((deeper, iter(inputs_of(deeper))))
    nodes = list(place)
    edges = dict.fromkeys((place[other], i) for i, node in enumerate(nodes) for other in inputs_of(node))
    return nodes, list(edges)


def inputs_of(node: Any) -> list[Any]:
    return [other for other, _ in node.next_functions if other is not None]


class Reader:
    """Turns nodes into data, and adds up the memory that they keep, each storage once."""

    def __init__(self, names: Mapping[str, Tensor], leaves: Iterable[Tensor]) -> None:
        self.names = {id(tensor): name for name, tensor in reversed(list(names.items()))}  # the first name counts
        self.own = {key for leaf in leaves if (key := storage_of(leaf)[0]) is not None}
        self.kept: dict[Any, int] = {}
        self.fields: dict[type, list[str]] = {}

    def read(self, node: Any) -> Node:
        name = node.name()
        if name == LEAF:
            leaf = node.variable
            return Node("AccumulateGrad", None, -1, label=self.names.get(id(leaf), ""), sizes=str(list(leaf.shape)), leaf=weakref.ref(leaf))
        custom = hasattr(node, "saved_tensors")
        return Node(name, node._site, node._sequence_nr(), custom, self.saved(node, custom))

    def saved(self, node: Any, custom: bool) -> list[Saved]:
        if custom:
            named = [("saved_tensors", "_raw_saved_tensors")]
        else:
            kind = type(node)
            if kind not in self.fields:
                self.fields[kind] = sorted({name for name in dir(node) if name.startswith("_raw_saved_")})
            named = [(name.removeprefix("_raw_saved_"), name) for name in self.fields[kind]]
        found = []
        for name, attribute in named:
            try:
                raw = getattr(node, attribute)
            except RuntimeError:  # of a custom Function, after backward
                found.append(Saved(name, "freed by backward"))
                continue
            many = isinstance(raw, tuple)
            for i, one in enumerate(raw if many else (raw,)):
                if (entry := self.entry(f"{name}[{i}]" if many else name, one)) is not None:
                    found.append(entry)
        return found

    def entry(self, name: str, raw: Any) -> Saved | None:
        try:
            data, hooked = raw.data, raw.unpack_hook is not None
        except RuntimeError as error:
            freed = "second time" in str(error)
            return Saved(name, "freed by backward" if freed else "written to since it was saved: backward will refuse")
        if data is None and not hooked:
            return None
        if not isinstance(data, Tensor):  # not unpacked here: a checkpoint would compute again
            return Saved(name, f"kept by a hook, as {type(data).__name__}")
        words = f"{list(data.shape)} {str(data.dtype).removeprefix('torch.')}" + (", kept by a hook" if hooked else "")
        key, size = storage_of(data)
        parameter = key is not None and key in self.own
        if not parameter:
            self.kept[key if key is not None else id(raw)] = size
        return Saved(name, words, int(data.nbytes) if key is not None else size, parameter)


def storage_of(tensor: Tensor) -> tuple[Any, int]:
    """What tells the memory of a tensor from others', and its bytes; None and what its elements would take where it has none."""
    try:
        storage = tensor.untyped_storage()
        return (storage.data_ptr() or None), storage.nbytes()
    except (RuntimeError, NotImplementedError):  # sparse, batched
        return None, 0


def note_norms(node: Any, norms: list[float]) -> None:
    """Notes in every backward what reaches a node. The hook knows the list alone, so the node is not kept by it."""

    def hook(grads: tuple[Tensor | None, ...]) -> None:
        norms[:] = [norm_of(grad) for grad in grads if grad is not None]

    node.register_prehook(hook)


def collect(tensors: list[Any], names: Mapping[str, Tensor], gradients: bool) -> tuple[list[Node], list[tuple[int, int]], int]:
    """Nodes, edges, and the bytes that the graph keeps beside its leaves."""
    nodes, edges = in_order(roots_of(tensors))
    reader = Reader(names, [node.variable for node in nodes if node.name() == LEAF])
    read = [reader.read(node) for node in nodes]
    if gradients:
        for node, about in zip(nodes, read, strict=True):
            if about.leaf is None:
                note_norms(node, about.norms)
    return read, edges, sum(reader.kept.values())
