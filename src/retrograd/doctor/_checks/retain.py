"""retain_graph_leak: retain_graph=True that no later backward needs, or that lets every backward run through the graphs of all earlier steps."""

from __future__ import annotations

import ast
import itertools
import weakref
from collections import deque
from typing import Any

from retrograd.doctor import _holders, _names
from retrograd.doctor._books import training
from retrograd.doctor._checks.by_hand import version
from retrograd.doctor._findings import Finding, counted, tell, was_told
from retrograd.doctor._graph import is_leaf_node
from retrograd.doctor._places import Place, function_around, is_library_file, of_node, statement_at
from retrograd.doctor._watch import Check, Run

PATIENT = 10  # times in vain, while the function has a backward that has not run yet
PENDING = 16  # kept graphs of a line that a later backward may need


class Retained:
    """A run that kept its graph. Holds no node of it."""

    def __init__(self, run: Run) -> None:
        self.nodes = {id(node): weakref.ref(node) for node in run.graph.nodes if not is_leaf_node(node)}
        self.size = len(self.nodes)
        self.number = run.number
        self.leaves = [(weakref.ref(leaf), version(leaf)) for leaf in run.graph.leaves]

    def has(self, node: Any) -> bool:
        ref = self.nodes.get(id(node))
        return ref is not None and ref() is node

    def is_over(self) -> bool:
        """Whether no backward can need it any more: its nodes are gone, or what it was computed from has been updated since."""
        for ref, writes in self.leaves:
            leaf = ref()
            if leaf is None or version(leaf) != writes or training.last_step(leaf) > self.number:
                return True
        return all(ref() is None for ref in self.nodes.values())


class Spot:
    """A line with backward(retain_graph=True)."""

    def __init__(self) -> None:
        self.pending: deque[Retained] = deque(maxlen=PENDING)  # not met by a later run so far
        self.vain = 0  # times that it was in vain
        self.needed = False  # at least once a later run did need it
        self.released = False  # at least once a run of another line did, and let it go
        self.spans: list[int] = []  # of how many earlier steps each run has met nodes


def _asks_to_retain(place: Place) -> bool:
    """Whether a line says so itself: jacobians and gradcheck ask for graphs to be kept on their own account."""
    statement = statement_at(place)
    return statement is not None and any(
        isinstance(node, ast.keyword) and node.arg in ("retain_graph", None) for node in ast.walk(statement)
    )


def _other_branches(function: ast.AST, line: int) -> list[range]:
    """The lines of the branches that are not taken where this one runs: scaler.scale(loss).backward() if mixed precision is on."""
    found = []
    for node in ast.walk(function):
        if isinstance(node, ast.If) and node.orelse:
            branches = [range(part[0].lineno, (part[-1].end_lineno or part[-1].lineno) + 1) for part in (node.body, node.orelse)]
            if any(line in branch for branch in branches):
                found += [branch for branch in branches if line not in branch]
    return found


class RetainGraphLeak(Check):
    def __init__(self) -> None:
        self.spots: dict[tuple[str, int], Spot] = {}
        self.run_lines: set[tuple[str, int]] = set()  # lines with a backward that has run, or with a call that led to one

    forget = __init__

    def before_backward(self, run: Run) -> None:
        if run.place is None:
            return
        line = run.place[:2]
        self.run_lines.update((frame.f_code.co_filename, frame.f_lineno) for frame in _names.user_frames())
        retains = run.keep_graph and not run.create_graph and (run.accumulate or _asks_to_retain(run.place))
        spot = self.spots.get(line)
        if not retains and not self.spots:
            return
        inner = [node for node in run.graph.nodes if not is_leaf_node(node)]
        if retains and spot is not None and not was_told("retain_graph_leak", run.place):
            self.carried(run, spot, inner)
        for other in self.spots.values():
            met = [one for one in other.pending if any(one.has(node) for node in inner)]
            for one in met:
                other.pending.remove(one)
                other.needed = True
                other.released = other.released or not (run.keep_graph or other is spot)
        if not (retains and inner):
            return
        if spot is None:
            spot = self.spots[line] = Spot()
        over = [one for one in spot.pending if one.is_over()]
        for one in over:
            spot.pending.remove(one)
            spot.vain += 1
        if over and not spot.needed and spot.vain >= 2 and (spot.vain >= PATIENT or not self.may_come()):
            self.in_vain(run, spot, over[-1])
        spot.pending.append(Retained(run))

    def called(self, run: Run, argument: str = "") -> str:
        return f"backward({argument})" if run.accumulate else f"grad({argument})"

    def carried(self, run: Run, spot: Spot, inner: list[Any]) -> None:
        """Whether the run goes through graphs of more and more earlier steps. Those of one step may be of several backwards, so their number is compared."""
        spot.spans.append(len({node._step for node in inner}))
        last = spot.spans[-3:]
        if len(last) < 2 or any(later <= earlier for earlier, later in itertools.pairwise(last)) or (len(last) < 3 and last[0] < 2):
            return
        joints = [
            node for node in inner if any(c is not None and not is_leaf_node(c) and c._step < node._step for c, _ in node.next_functions)
        ]
        joint = max(joints, key=lambda node: node._sequence_nr(), default=None)
        if joint is None or last[-1] < 3 or spot.released or (last[-1] < PATIENT and self.may_come()):
            return
        tell(
            Finding(
                "retain_graph_leak",
                f"{self.called(run, 'retain_graph=True')} runs through {counted(len(inner), 'node')} of {last[-1]} steps, and of one more with each step: something "
                "is carried from step to step with its graph.",
                run.place,
                "every step takes longer than the one before and keeps the buffers of all of them.",
                "detach what is carried where a new step begins, as in `hidden = hidden.detach()`, and leave retain_graph out.",
                of_node(joint),
                "the graph is carried on at",
            )
        )

    def may_come(self) -> bool:
        """Whether the function, or one that called it, has another backward that has not run so far: it may need the graph."""
        for frame in _names.user_frames():
            at = Place(frame.f_code.co_filename, frame.f_lineno, "")
            function = None if is_library_file(at.file) else function_around(at)
            others = _other_branches(function, at.line) if function is not None else []
            for node in ast.walk(function) if function is not None else ():
                if any(node.lineno in lines for lines in others if hasattr(node, "lineno")):
                    continue
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("backward", "grad"):
                    lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                    if not any((at.file, line) in self.run_lines for line in lines):
                        return True
        return False

    def in_vain(self, run: Run, spot: Spot, last: Retained) -> None:
        alive = [node for ref in last.nodes.values() if (node := ref()) is not None]
        also, written = None, None
        if alive:
            from retrograd.doctor._checks.leaks import holders_of

            for tensor, holder in holders_of(alive):
                if holder.container is not None or "." in holder.shown:
                    also = _holders.stored_at(holder, of_node(tensor.grad_fn))
                    written = _holders.without_history(also, of_node(tensor.grad_fn), tensor.numel() == 1) if also is not None else None
        tell(
            Finding(
                "retain_graph_leak",
                f"{self.called(run, 'retain_graph=True')} kept a graph of {counted(last.size, 'node')} {spot.vain} times, and no later backward went through any of it.",
                run.place,
                "what the graph saved for backward stays in memory until the last tensor of it is gone, for nobody.",
                f"leave retain_graph out: `{'loss.backward()' if run.accumulate else 'torch.autograd.grad(loss, inputs)'}`"
                + (f", and store no history: `{written}`." if written else "."),
                also,
                "the graph is kept at",
            )
        )
