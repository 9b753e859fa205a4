"""The whole picture: what was found, which graphs live and who holds them, what backward keeps by line, gradients by parameter."""

from __future__ import annotations

import gc
import os
from typing import Any, NamedTuple

from retrograd import _C
from retrograd._memory import _readable
from retrograd.doctor import _holders, _names
from retrograd.doctor._findings import CODES, Finding, counted, found
from retrograd.doctor._graph import walk
from retrograd.doctor._places import Place, of_leaf, of_node
from retrograd.doctor._watch import live_optimizers, watcher
from retrograd.nn.parameter import is_lazy


class LiveGraph(NamedTuple):
    """A tensor that the program holds, with the graph behind it."""

    holder: str
    place: Place | None  # the op that made the tensor
    nodes: int
    steps: tuple[int, int]  # of the oldest and the newest node, counted by backwards


class SavedLine(NamedTuple):
    """What the ops of one line keep for backward. Memory that several keep counts for the oldest."""

    place: Place | None
    ops: str
    nodes: int
    bytes: int


class ParameterState(NamedTuple):
    name: str
    shape: tuple[int, ...]
    norm: float | None  # of the gradient
    remark: str


def live_graphs(most: int = 20) -> list[LiveGraph]:
    """The graphs of tensors that something besides other graphs holds, largest first."""
    graphs = []
    tensors = [t for t in _C._old_tensors(2**32 - 1) if t.grad_fn is not None]
    roots = {id(t.grad_fn): t for t in tensors}
    behind = {id(node) for node in walk([next_node for t in tensors for next_node, _ in t.grad_fn.next_functions if next_node is not None])}
    ends = [tensor for key, tensor in roots.items() if key not in behind]  # the others are parts of these
    holders = _holders.find(ends)
    for tensor in ends:
        nodes = list(walk([tensor.grad_fn]))
        steps = [n._step for n in nodes]
        holder = holders.get(id(tensor))
        name = _names.variable(tensor) or (holder.shown if holder else f"a tensor of shape {tuple(tensor.shape)}")
        graphs.append(LiveGraph(name, of_node(tensor.grad_fn), len(nodes), (min(steps), max(steps))))
    return sorted(graphs, key=lambda g: -g.nodes)[:most]


def saved_lines() -> list[SavedLine]:
    """What living graphs keep for backward, by the line whose ops keep it, most first."""
    counted_memory: set[int] = set()
    lines: dict[Any, list[Any]] = {}
    parameters = {_C._memory_of(p)[0] for module in _names.models() for p in module.parameters()}
    for name, site, _, memory in sorted(_C._graph_memory(), key=lambda row: row[2]):
        row = lines.setdefault(site, [set(), 0, 0])
        row[0].add(name)
        row[1] += 1
        for address, size in memory:
            if address not in counted_memory and address not in parameters:
                counted_memory.add(address)
                row[2] += size
    rows = [
        SavedLine(Place(*site) if site else None, ", ".join(sorted(names)), nodes, size) for site, (names, nodes, size) in lines.items()
    ]
    return sorted(rows, key=lambda row: -row.bytes)


def _remark(tensor: Any, in_optimizer: set[int]) -> str:
    largest = _C._doctor_largest(tensor.detach())
    remarks = []
    if largest is not None and not largest < float("inf"):
        remarks.append("its values are not finite")
    if not tensor.requires_grad:
        frozen = [at for kind, _, _, at in tensor._cut if kind in ("frozen", "parameter") and at is not None]
        remarks.append(f"does not require grad, since {Place(*frozen[-1][:3])}" if frozen else "does not require grad")
    elif tensor.grad is None:
        remarks.append("no gradient: no backward has reached it since it was made or zeroed")
    if in_optimizer and tensor.requires_grad and id(tensor) not in in_optimizer:
        place = of_leaf(tensor)
        remarks.append("in no optimizer" + (f"; made at {place}" if place else ""))
    return "; ".join(remarks)


def _norm(grad: Any) -> float | None:
    if grad is None or grad.is_meta or (grad.layout != _C.strided and not grad.is_sparse):
        return None
    values = grad.detach().coalesce().values() if grad.is_sparse else grad.detach()
    return float(values.norm())


def parameter_states() -> list[ParameterState]:
    """The parameters of models that were called and of optimizers, with the norms of their gradients."""
    optimized = [p for optimizer in live_optimizers() for group in optimizer.param_groups for p in group["params"]]
    in_optimizer = {id(p) for p in optimized}
    states, seen = [], set()
    named = [(f"{_names.model_name(m)}.{name}", p) for m in _names.models() for name, p in m.named_parameters()]
    for name, p in named + [("", p) for p in optimized]:
        if id(p) in seen:
            continue
        seen.add(id(p))
        if is_lazy(p):
            states.append(ParameterState(name or "a parameter", (), None, "has no size yet: its layer was not called"))
        else:
            states.append(ParameterState(name or _names.parameter(p), tuple(p.shape), _norm(p.grad), _remark(p, in_optimizer)))
    return states


class Report:
    """What the doctor knows at one moment. `str(report)` is text, `report.html()` a page that stands alone; notebooks show it."""

    def __init__(self) -> None:
        with watcher.unwatched():
            self.findings: list[Finding] = list(found)
            self.graphs = live_graphs()
            self.saved = saved_lines()
            self.parameters = parameter_states()
        tensors, self.nodes = _C._live_objects()
        # Parameters are instances of a subclass, which only the collector knows all of.
        self.tensors = tensors + sum(isinstance(o, _C.Tensor) and type(o) is not _C.Tensor for o in gc.get_objects())
        stats = _C._memory_stats()
        self.allocated, self.peak = stats["allocated"], stats["peak_allocated"]

    def _summary(self) -> str:
        return (
            f"{counted(len(self.findings), 'mistake')} found; {counted(self.tensors, 'tensor')} and {counted(self.nodes, 'graph node')} alive, "
            f"{_readable(self.allocated)} in tensors, {_readable(self.peak)} at the most"
        )

    def __str__(self) -> str:
        lines = ["retrograd doctor", "  " + self._summary(), ""]
        lines += ["What was found" if self.findings else "Nothing was found.", ""]
        for finding in self.findings:
            lines += ["  " + line for line in finding.text().splitlines()] + [""]
        if self.graphs:
            lines.append("Living graphs")
            lines += [f"  {g.nodes:>8,} nodes  steps {g.steps[0]} to {g.steps[1]}  {g.holder}, made at {g.place}" for g in self.graphs] + [
                ""
            ]
        if self.saved:
            lines.append("Kept for backward, by line")
            lines += [f"  {_readable(row.bytes):>12}  {row.place}  {row.ops}" for row in self.saved[:20]] + [""]
        if self.parameters:
            lines.append("Parameters: norm of the gradient")
            for state in self.parameters[:60]:
                norm = "none" if state.norm is None else f"{state.norm:.4g}"
                lines.append(f"  {norm:>12}  {state.name} {state.shape}" + (f"  ({state.remark})" if state.remark else ""))
            if len(self.parameters) > 60:
                lines.append(f"  and {len(self.parameters) - 60} more")
            lines.append("")
        return "\n".join(lines)

    __repr__ = __str__

    def page(self) -> Any:
        """The report as a page."""
        from retrograd import _pages

        body = [_pages.facts([("summary", self._summary())])]
        for finding in self.findings:
            body.append(_pages.card(f"{finding.code}: {CODES[finding.code]}", _pages.preformatted(finding.text())))
        if self.graphs:
            rows = [(g.holder, g.place or "", g.nodes, f"{g.steps[0]} to {g.steps[1]}") for g in self.graphs]
            body.append(_pages.card("Living graphs", _pages.table(("held by", "made at", "nodes", "steps"), rows)))
        if self.saved:
            bars = [(f"{row.place}", float(row.bytes), f"{_readable(row.bytes)}  {row.ops}") for row in self.saved[:20]]
            body.append(_pages.bar_chart("Kept for backward, by line", bars))
        if self.parameters:
            states = [(s.name, str(s.shape), "" if s.norm is None else f"{s.norm:.4g}", s.remark) for s in self.parameters]
            body.append(_pages.card("Parameters", _pages.table(("name", "shape", "norm of the gradient", ""), states)))
        return _pages.Page("retrograd doctor", body)

    def html(self) -> str:
        text: str = self.page().html()
        return text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page."""
        self.page().save(path)

    def _repr_html_(self) -> str:
        shown: str = self.page()._repr_html_()
        return shown
