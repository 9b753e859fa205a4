"""training_without_grad and dtype_cut where no error is raised: a loss that was made to require grad after its history had been cut, steps without any
gradient, and conversions and roundings that parameters cannot be reached through."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

from retrograd import _C
from retrograd._cuts import has_zero_derivative
from retrograd.doctor._books import WeakTable, in_optimizers, node_of, parameters_of, place_of, tensors_in, training
from retrograd.doctor._findings import Finding, listed, tell
from retrograd.doctor._graph import is_leaf, is_leaf_node, walk
from retrograd.doctor._names import models, parameters as names_of
from retrograd.doctor._places import Place, here, is_before_the_loop_of, of_node
from retrograd.doctor._watch import Call, Check, Run

Note = tuple[str, str | None, Any, Any]  # kind, op, mode, at: an entry of Tensor._cut
Line = tuple[str, int]

_CUTS = ("no_grad", "inference_mode", "forward", "backward", "hook", "detach", "data", "op", "copied", "numpy", "frozen")

_WORDS = {
    "no_grad": "gradients were switched off",
    "inference_mode": "inference_mode was entered",
    "detach": "the history was detached",
    "data": "the values were taken through .data",
    "copied": "the values were copied without their history",
    "numpy": "the values came back from NumPy",
    "frozen": "the parameters were frozen",
    "made": "it was made from plain numbers",
}
_FIXES = {
    "no_grad": "compute the loss outside of that block or function.",
    "inference_mode": "compute the loss outside of inference_mode.",
    "frozen": "leave what is to be learned unfrozen: `param.requires_grad_(True)`, before the optimizer is made.",
}
_KEEP = "keep the loss as the tensor it was (no detach(), item(), .data, NumPy or torch.tensor() in between) and call backward() on that."


_WITH_INDICES = {
    "topk",
    "sort",
    "max",
    "min",
    "kthvalue",
    "median",
    "nanmedian",
    "mode",
    "cummax",
    "cummin",
}  # which have no derivative, beside values, which do


def _where(note: Note) -> Place | None:
    kind, _, mode, at = note
    return place_of(mode if kind in ("no_grad", "inference_mode", "forward", "backward") and mode is not None else at)


def _cut_of(tensor: Any) -> Note | None:
    """The note of what cut the history of a tensor, the strongest first."""
    notes: list[Note] = tensor._cut
    cuts = [note for note in notes if note[0] in _CUTS]
    return cuts[0] if cuts else (notes[0] if notes else None)


class Patched:
    """A leaf that a backward reached and that was cut from what it was computed from before it was made to require grad."""

    def __init__(self, tensor: Any) -> None:
        notes: list[Note] = tensor._cut
        self.cut = _cut_of(tensor)
        self.patch = place_of(notes[-1][3]) if notes and notes[-1][0] == "made" else None

    def is_kept(self, run: Run) -> bool:
        """Whether it was made before the loop, and is trained, or meant to be, from step to step."""
        made = self.patch or (_where(self.cut) if self.cut is not None else None)
        return made is not None and run.place is not None and is_before_the_loop_of(made, run.place)

    @property
    def is_sure(self) -> bool:
        return self.cut is not None and self.cut[0] in _CUTS


class TrainingWithoutGrad(Check):
    def __init__(self) -> None:
        self.patched: Patched | None = None  # of the last run that reached nothing else
        self.roots: dict[Line, int] = {}  # backwards from a leaf that was made from numbers
        self.reached = False  # a parameter, since the last step
        self.runs = 0  # since the last step
        self.empty_steps = 0
        self.output: Note | None = None  # of the last result of a model without history

    forget = __init__

    def before_backward(self, run: Run) -> None:
        if not run.accumulate:
            return
        self.runs += 1
        leaves = run.graph.leaves
        had = in_optimizers()
        if any(id(leaf) in had or isinstance(leaf, _parameter_class()) for leaf in leaves):
            self.reached, self.patched = True, None
            return
        patched = [Patched(leaf) for leaf in leaves]
        if not leaves or not all(found.cut is not None for found in patched) or all(found.is_kept(run) for found in patched):
            return
        self.patched = next((found for found in patched if found.is_sure), patched[0])
        if len(run.roots) == 1 and run.roots[0] is leaves[0] and self.patched.patch is not None:
            line = self.patched.patch[:2]
            self.roots[line] = self.roots.get(line, 0) + 1
            if self.patched.is_sure or (self.roots[line] > 1 and (had or models())):  # else there is nothing to learn
                self.say(self.patched)

    def after_module(self, call: Call, result: Any) -> None:
        if not call.module.training:
            return
        for tensor in tensors_in(result):
            note = None if tensor.requires_grad else _cut_of(tensor)
            self.output = note if note is not None and note[0] in _CUTS else None

    def before_step(self, optimizer: Any, place: Place | None) -> None:
        params = parameters_of(optimizer)
        bare = all(param.grad is None for param in params)
        if self.patched is not None and not self.reached and _without_gradient(params):
            self.say(self.patched)
        self.empty_steps = self.empty_steps + 1 if bare and not self.runs and self.output is not None else 0
        if self.empty_steps >= 2 and self.output is not None:
            tell(
                Finding(
                    "training_without_grad",
                    f"step() has no gradient for any parameter, and no backward() has run since the step before: {_WORDS.get(self.output[0], 'the history was cut')}.",
                    _where(self.output),
                    "the loop runs and nothing is learned.",
                    _FIXES.get(self.output[0], _KEEP),
                    place,
                    "the step without gradients is at",
                )
            )
        self.reached, self.runs, self.patched, self.output = False, 0, None, None

    def say(self, found: Patched) -> None:
        assert found.cut is not None
        kind, op = found.cut[0], found.cut[1]
        is_choice = kind == "op"
        words = f"{op} has no derivative" if is_choice else _WORDS.get(kind, "the history was cut")
        tell(
            Finding(
                "dtype_cut" if is_choice else "training_without_grad",
                f"the loss has no path to any parameter: {words}. It was made to require grad afterwards, so backward() runs and computes nothing.",
                _where(found.cut),
                "the loop runs, the loss is printed, and nothing is learned.",
                "compute the loss from what went into that operation: scores rather than classes, distances rather than comparisons."
                if is_choice
                else _FIXES.get(kind, _KEEP),
                found.patch,
                "made to require grad at",
            )
        )


def _parameter_class() -> type:
    from retrograd.nn import Parameter

    return Parameter


def _without_gradient(params: list[Any]) -> bool:
    return all(param.grad is None or not bool((param.grad != 0).any()) for param in params)


class Blocked:
    """A leaf that only zeros can come to, and the op that makes them."""

    def __init__(self, leaf: Any, node: Any) -> None:
        self.leaf = weakref.ref(leaf)
        self.place = of_node(node)
        self.op = node.name().partition("Backward")[0].lower()


class CutOp:
    """A line whose op cuts the history, and the leaves behind it."""

    def __init__(self, op: str | None, place: Place) -> None:
        self.op, self.place = op, place
        self.leaves: WeakTable[bool] = WeakTable()
        self.direct: WeakTable[int] = (
            WeakTable()
        )  # those that are its operands themselves, such as a threshold: steps for which they had no gradient
        self.users: list[Any] = []  # weak references to the nodes of ops that use what it made
        self.feeds_loss = False
        self.steps = 0  # for which its leaves had no gradient


class DtypeCut(Check):
    traces_ops = True

    def __init__(self) -> None:
        self.cuts: dict[Line, CutOp] = {}
        self.blocked: list[Blocked] = []  # of the last runs
        self.unowned: dict[Line, int] = {}

    forget = __init__

    def opened(self) -> None:
        if self.cuts:
            _C._look_follow_cuts()

    # -- conversions and comparisons ------------------------------------------------

    def op(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        results = list(tensors_in(result, 1))
        learned = [node for tensor in results if (node := node_of(tensor)) is not None]
        if learned:
            if self.cuts:
                for tensor in tensors_in(args, 2):
                    if not tensor.requires_grad:
                        for kind, _, _, at in tensor._cut:
                            if kind == "op" and at is not None and (found := self.cuts.get(at[:2])) is not None:
                                found.users = [ref for ref in found.users[-32:] if ref() is not None]
                                found.users.append(weakref.ref(learned[0]))
            if op.__name__.partition(".")[0] not in _WITH_INDICES:
                return
            results = [tensor for tensor in results if not tensor.requires_grad]
        sources = [node for tensor in tensors_in(args, 2) if (node := node_of(tensor)) is not None]
        direct = [tensor for tensor in tensors_in(args, 2) if tensor.requires_grad and is_leaf(tensor)]
        if not sources and not direct:
            return
        for tensor in results:
            notes = tensor._cut
            if (
                notes
                and notes[-1][0] == "op"
                and (place := here()) is not None
                and notes[-1][3] is not None
                and notes[-1][3][:2] == place[:2]
            ):
                found = self.cuts.setdefault(place[:2], CutOp(notes[-1][1], place))
                _C._look_follow_cuts()
                for node in walk(sources):
                    if is_leaf_node(node):
                        found.leaves[node.variable] = True
                for leaf in direct:
                    found.direct.setdefault(leaf, int)
                return

    # -- backward -------------------------------------------------------------------

    def before_backward(self, run: Run) -> None:
        if not run.accumulate or run.inputs is not None:
            return
        if self.cuts:
            nodes = set(run.graph.nodes)
            for found in self.cuts.values():
                found.feeds_loss = found.feeds_loss or any(ref() in nodes for ref in found.users)
        named = zip(run.graph.nodes, run.graph.names, strict=True)
        zeros = [node for node, name in named if has_zero_derivative(node, name)]
        if zeros:
            open_leaves = {id(node.variable) for node in self.open_nodes(run) if is_leaf_node(node)}
            for node in sorted(zeros, key=lambda node: -node._sequence_nr()):
                for leaf in walk([node]):
                    if is_leaf_node(leaf) and id(leaf.variable) not in open_leaves:
                        self.blocked.append(Blocked(leaf.variable, node))

    def open_nodes(self, run: Run) -> list[Any]:
        """What a gradient that is not zero can come to."""
        seen: set[Any] = set()
        stack = [node for node in run.graph.roots if not has_zero_derivative(node)]
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                stack.extend(child for child, _ in node.next_functions if child is not None and not has_zero_derivative(child))
        return list(seen)

    def after_backward(self, run: Run) -> None:
        had = in_optimizers()
        unowned = self.take(lambda leaf: id(leaf) not in had)
        if unowned and (place := unowned[0].place) is not None:
            self.unowned[place[:2]] = self.unowned.get(place[:2], 0) + 1
            if self.unowned[place[:2]] >= 2:
                self.say_zero(unowned)

    def take(self, wanted: Callable[[Any], bool]) -> list[Blocked]:
        """Those whose leaf is alive and wanted, which are then no longer waited for."""
        taken: list[Blocked] = []
        rest: list[Blocked] = []
        for entry in self.blocked:
            leaf = entry.leaf()
            if leaf is not None:
                (taken if wanted(leaf) else rest).append(entry)
        self.blocked = rest
        return taken

    def before_step(self, optimizer: Any, place: Place | None) -> None:
        params = {id(param): param for param in parameters_of(optimizer)}
        self.say_zero(self.take(lambda leaf: id(leaf) in params))
        for found in list(self.cuts.values()):
            if not found.feeds_loss:
                continue
            direct = [leaf for leaf, _ in found.direct.items() if id(leaf) in params and leaf not in training.leaves and leaf.grad is None]
            for leaf in direct:
                found.direct[leaf] = (found.direct.get(leaf) or 0) + 1
            if waited := [leaf for leaf in direct if found.direct.get(leaf) == 2]:
                self.say_cut(found, waited)
            cut = [leaf for leaf, _ in found.leaves.items() if id(leaf) in params]
            if not cut:
                found.feeds_loss = False
                continue
            if any(leaf.grad is not None and bool((leaf.grad != 0).any()) for leaf in cut) or any(leaf in training.leaves for leaf in cut):
                found.steps = -1_000  # they learn another way
                continue
            found.steps += 1
            found.feeds_loss = False
            if found.steps >= 2:
                self.say_cut(found, cut)

    # -- words ----------------------------------------------------------------------

    def say_zero(self, blocked: list[Blocked]) -> None:
        leaves: dict[int, Any] = {id(leaf): leaf for entry in blocked if (leaf := entry.leaf()) is not None}
        if not leaves or not _without_gradient(list(leaves.values())):
            return
        place, op = blocked[0].place, blocked[0].op
        self.explain(leaves.values())
        tell(
            Finding(
                "dtype_cut",
                f"the derivative of {op} is zero everywhere, and the loss reaches {listed(names_of(list(leaves.values())))} through it alone: the gradient is zero.",
                place,
                "these parameters never move.",
                "leave the rounding out of the loss, or let the gradient pass it by: `x + (x.round() - x).detach()`.",
            )
        )

    def explain(self, leaves: Iterable[Any]) -> None:
        for leaf in leaves:
            training.explained[leaf] = True

    def say_cut(self, found: CutOp, cut: list[Any]) -> None:
        self.explain(cut)
        tell(
            Finding(
                "dtype_cut",
                f"{found.op} has no derivative, and the loss reaches {listed(names_of(cut))} through it alone: they get no gradient.",
                found.place,
                "these parameters never move.",
                "compute the loss from what went into that operation: scores or probabilities rather than a class or a comparison.",
            )
        )
