"""Which module a node belongs to.

A node knows when it was made (its sequence number), so it is enough to note at which numbers each module's forward began and ended:
`watch`. Without that, parameters tell: the op that uses the weight of `layers.0.norm` belongs there, and one between two modules
belongs to the module around both.
"""

from __future__ import annotations

import weakref
from typing import Any

import retrograd
from retrograd.viz._collect import Node

Span = tuple[int, int, str]  # first number, number after the last, path of the module

# What is done to a weight before it is used. (Of other ops nothing follows from that all they use are weights: data has no node.)
_FORMS = {
    f"{name}Backward0"
    for name in ("T", "Transpose", "Permute", "View", "Expand", "Unsqueeze", "Squeeze", "Select", "Slice", "Split", "ToCopy")
}

_spans: weakref.WeakKeyDictionary[Any, list[Span]] = weakref.WeakKeyDictionary()


class watch:
    """Notes which module makes which nodes, so that `viz.graph(loss, model=model)` groups them exactly.

    Example:
        >>> import retrograd as torch
        >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU())
        >>> with torch.viz.watch(model):
        ...     loss = model(torch.randn(3, 4)).sum()
        >>> [node.module for node in torch.viz.graph(loss, model=model).nodes if node.name == "ReluBackward0"]
        ['1']
    """

    def __init__(self, model: Any) -> None:
        if not isinstance(model, retrograd.nn.Module):
            raise TypeError(f"viz.watch: expected an nn.Module, got {type(model).__name__}")
        self.model = model

    def __enter__(self) -> watch:
        spans = _spans[self.model] = []  # of this block alone
        with retrograd.inference_mode(False):
            clock = retrograd.zeros((), requires_grad=True)

        def now() -> int:
            with retrograd.inference_mode(False), retrograd.enable_grad():
                node = clock.view_as(clock).grad_fn
            assert node is not None
            return node._sequence_nr()

        open_spans: list[tuple[int, str]] = []
        self.handles = []
        for path, module in self.model.named_modules():

            def begin(_module: Any, _args: Any, path: str = path) -> None:
                open_spans.append((now(), path))

            def end(_module: Any, _args: Any, _result: Any) -> None:
                start, path = open_spans.pop()
                spans.append((start, now(), path))

            self.handles += [module.register_forward_pre_hook(begin), module.register_forward_hook(end, always_call=True)]
        return self

    def __exit__(self, *error: Any) -> None:
        for handle in self.handles:
            handle.remove()


def assign(nodes: list[Node], edges: list[tuple[int, int]], model: Any, parameters: set[str]) -> None:
    """Sets `module` of every node."""
    for node in nodes:
        if node.leaf is not None and node.label in parameters:
            node.module = node.label.rpartition(".")[0]
    inputs: list[list[int]] = [[] for _ in nodes]
    for start, end in edges:
        inputs[end].append(start)
    if spans := _spans.get(model):
        by_spans(nodes, spans)
        beside_parameters(nodes, inputs)
    else:
        by_parameters(nodes, inputs, parameters)


def by_spans(nodes: list[Node], spans: list[Span]) -> None:
    """The innermost module that ran when the node was made."""
    waiting = sorted(spans, key=lambda s: (s[0], -s[1]), reverse=True)
    running: list[Span] = []
    for node in sorted((n for n in nodes if n.leaf is None), key=lambda n: n.sequence):
        while waiting and waiting[-1][0] <= node.sequence:
            running.append(waiting.pop())
        while running and running[-1][1] <= node.sequence:
            running.pop()
        node.module = running[-1][2] if running else ""


def beside_parameters(nodes: list[Node], inputs: list[list[int]]) -> None:
    """A leaf that is no parameter stands with the first node that uses it."""
    for i in range(len(nodes)):
        for source in inputs[i]:
            if nodes[source].leaf is not None and not nodes[source].module:
                nodes[source].module = nodes[i].module


def common(a: str | None, b: str | None) -> str | None:
    """The module around both."""
    if a is None or b is None:
        return a if b is None else b
    if a == b:
        return a
    parts, others = a.split("."), b.split(".")
    count = next((i for i, (p, q) in enumerate(zip(parts, others, strict=False)) if p != q), min(len(parts), len(others)))
    return ".".join(parts[:count])


def by_parameters(nodes: list[Node], inputs: list[list[int]], parameters: set[str]) -> None:
    """As far as parameters tell."""
    known: list[str | None] = [None] * len(nodes)  # sure, because a parameter goes in
    weights = [False] * len(nodes)  # a parameter, or one in another form
    before: list[str | None] = [None] * len(nodes)  # the last known one on the way here
    for i, node in enumerate(nodes):
        if node.leaf is not None:
            weights[i] = node.label in parameters
            known[i] = node.module if weights[i] else None
            continue
        weights[i] = node.name in _FORMS and all(weights[s] for s in inputs[i])
        for source in inputs[i]:
            if weights[source]:
                known[i] = common(known[i], known[source])
        data = [before[s] for s in inputs[i] if not weights[s]]
        before[i] = known[i] if known[i] is not None else next((path for path in reversed(data) if path is not None), None)
    after: list[str | None] = [None] * len(nodes)  # the next known one
    for i in reversed(range(len(nodes))):
        here = known[i] if known[i] is not None else after[i]
        if known[i] is None and nodes[i].leaf is None:
            nodes[i].module = (common(before[i], after[i]) or "") if before[i] is not None and after[i] is not None else ""
        elif known[i] is not None:
            nodes[i].module = known[i] or ""
        for source in inputs[i]:
            if here is not None:  # of several the one that comes first in the program, which is met last
                after[source] = here
    beside_parameters(nodes, inputs)
