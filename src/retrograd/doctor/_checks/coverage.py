"""disconnected_parameter and stale_optimizer: what is trained against what the loss reaches.

Both compare, step by step, the leaves that backwards reach with those that optimizers have. They speak after several steps with the same picture: heads and layers that
take turns make pictures that change. What is left out on purpose is left alone: inputs, parts that another optimizer has or had, that are updated by hand, that run in
evaluation mode, the layers before a head that alone is trained.
"""

from __future__ import annotations

import weakref
from typing import Any, ClassVar

from retrograd import _C
from retrograd.doctor import _names, _owners
from retrograd.doctor._books import WeakTable, training
from retrograd.doctor._checks.by_hand import grad_of, is_zero, pointer, total, version
from retrograd.doctor._findings import Finding, counted, listed, tell
from retrograd.doctor._graph import is_leaf
from retrograd.doctor._places import Place, of_leaf
from retrograd.doctor._watch import CUTS, Call, Check, Run, live_optimizers, params_of, watcher

STEPS = 3  # with the same picture, for a parameter without a use
MOST = 8  # optimizers made in one look of which it is known what came before them
STALE_STEPS = 2  # for an optimizer whose parameters were replaced


def _values(leaf: Any) -> tuple[int, int, float]:
    """Changes when a leaf is written to, also through .data."""
    return pointer(leaf), version(leaf), total(leaf)


def _state(grad: Any) -> tuple[int, int] | None:
    return None if grad is None else (id(grad), version(grad))


class _Steps:
    """The steps of one optimizer: how many there were in a row with the same picture."""

    def __init__(self) -> None:
        self.since = 0  # the run after which the last step was
        self.picture: tuple[frozenset[int], ...] = ()
        self.count = 0
        self.used: list[set[int]] = []  # parameters that went into ops, by step


class Coverage(Check):
    traces_ops = True  # for what _look_used() tells
    op_names: ClassVar = {"detach": CUTS, "alias": CUTS}  # in a module: what goes into these is used, although nothing is recorded

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self._older: Any = weakref.WeakKeyDictionary()  # parameters that were there when an optimizer was made
        self._owned: WeakTable[bool] = WeakTable()  # leaves that an optimizer has or had
        self._inputs: WeakTable[bool] = WeakTable()  # what modules were called with, and what grad() was asked for
        self._differentiated: WeakTable[bool] = (
            WeakTable()
        )  # leaves of what has a derivative in the loss, where a constant of theirs vanishes
        self._waiting: WeakTable[tuple[tuple[int, int, float], Finding]] = (
            WeakTable()
        )  # unreached, but the source has a branch that may change that
        self.opened()

    def opened(self) -> None:
        self._runs = self._made = 0
        self._reached: WeakTable[int] = WeakTable()  # the last run that reached a leaf
        self._still: WeakTable[tuple[int, int, float]] = WeakTable()  # values of leaves that no optimizer has
        self._moved: WeakTable[bool] = WeakTable()
        self._steps: Any = weakref.WeakKeyDictionary()
        self._numbers: WeakTable[bool] = WeakTable()  # leaves that became numbers of Python's in a model, since the last step

    def made(self, optimizer: Any) -> None:
        self._made += 1
        if self._made > MOST:
            return  # a program that makes them by the dozen
        parameter = _owners.parameter_class()
        older: WeakTable[bool] = WeakTable()
        for tensor in _C._live_tensors():
            if isinstance(tensor, parameter) or (tensor.requires_grad and is_leaf(tensor)):
                older[tensor] = True
        self._older[optimizer] = older

    # -- what is used and reached -----------------------------------------------

    def before_module(self, call: Call) -> None:
        for value in [*call.args, *call.kwargs.values()]:
            for tensor in value if isinstance(value, list | tuple) else (value,):
                if isinstance(tensor, _C.Tensor) and tensor.requires_grad and is_leaf(tensor):
                    self._inputs[tensor] = True

    def read(self, tensor: Any) -> None:
        if tensor.requires_grad and is_leaf(tensor) and watcher.called is not None:
            self._numbers[tensor] = True

    def before_backward(self, run: Run) -> None:
        if not run.accumulate:
            for tensor in run.inputs or ():
                if isinstance(tensor, _C.Tensor):
                    self._inputs[tensor] = True
            for leaf in run.graph.leaves if run.create_graph else ():
                self._differentiated[leaf] = True
            return
        self._before = [(leaf, _state(grad_of(leaf))) for leaf in run.leaves]
        self._in_graph = {id(leaf) for leaf in run.graph.leaves} if not run.inputs else set()

    def after_backward(self, run: Run) -> None:
        before, self._before = getattr(self, "_before", []), []
        if not run.accumulate:
            return
        self._runs += 1
        for optimizer in live_optimizers():
            for param in params_of(optimizer):
                if param not in self._owned:
                    self._owned[param] = True
        for leaf, grad in before:
            now = _state(grad_of(leaf))
            if id(leaf) in self._in_graph or (now is not None and now != grad):
                self._reached[leaf] = self._runs
                if leaf not in self._owned:
                    values, first = _values(leaf), self._still.get(leaf)
                    if first is None:
                        self._still[leaf] = values
                    elif first != values:
                        self._moved[leaf] = True

    def failed_backward(self) -> None:
        self._before = []

    # -- steps ------------------------------------------------------------------

    def before_step(self, optimizer: Any, place: Place | None) -> None:
        if self.has_closure:
            return  # its backwards are still to come
        self._judge(optimizer)

    def after_step(self, optimizer: Any, place: Place | None) -> None:
        if self.has_closure:
            self._judge(optimizer)
        _C._look_used(True)  # and begins again
        self._numbers.clear()

    def _judge(self, optimizer: Any) -> None:
        steps = self._steps.get(optimizer)
        if steps is None:
            steps = self._steps[optimizer] = _Steps()
        since, steps.since = steps.since, self._runs
        if since == self._runs:
            return  # a step without a backward
        params = params_of(optimizer)
        own = {id(p) for p in params}
        reached = {id(leaf): leaf for leaf, run in self._reached.items() if run > since}
        unreached = [p for p in params if id(p) not in reached and (p.grad is None or is_zero(p.grad))]
        still = [p for p in unreached if not self._is_moved(p)]
        others = [leaf for key, leaf in reached.items() if key not in own and self._is_loose(leaf)]
        picture = (frozenset(key for key in reached if key in own), frozenset(map(id, unreached)), frozenset(map(id, others)))
        steps.count = steps.count + 1 if picture == steps.picture else 1
        steps.picture = picture
        steps.used = [*steps.used[-(STEPS - 1) :], _C._look_used(False) | {id(leaf) for leaf, _ in self._numbers.items()}]
        newer = self._newer(optimizer, others, unreached)
        if newer and unreached and steps.count >= STALE_STEPS:
            self._tell_stale(optimizer, newer, unreached)
        elif steps.count >= STEPS:
            others = [leaf for leaf in others if not _owners.is_left_out(leaf, params)]
            if others:
                self._tell_forgotten(optimizer, others)
            elif picture[0]:
                self._tell_unreached(optimizer, unreached, still, set.intersection(*steps.used))

    def _is_moved(self, leaf: Any) -> bool:
        """Whether something other than the optimizer changes the values of a leaf, such as a moving average of another."""
        if leaf.grad is not None or leaf in self._moved:
            return leaf in self._moved
        values, before = _values(leaf), self._still.get(leaf)
        if before is None:
            self._still[leaf] = values
        elif before != values:
            self._moved[leaf] = True
        return leaf in self._moved

    def _is_loose(self, leaf: Any) -> bool:
        """Nobody trains it, and it is not an input."""
        return leaf.requires_grad and not any(leaf in table for table in (self._owned, self._inputs, self._moved))

    def _newer(self, optimizer: Any, leaves: list[Any], unreached: list[Any]) -> list[Any]:
        """The parameters made after an optimizer, in the order of their lines. A plain tensor is one where it has the shape of one that the loss does not reach any more."""
        older = self._older.get(optimizer)
        if older is None:
            return []
        shapes = {p.shape for p in unreached if not isinstance(p, _owners.parameter_class())}
        newer = [leaf for leaf in leaves if leaf not in older and (isinstance(leaf, _owners.parameter_class()) or leaf.shape in shapes)]
        return sorted(newer, key=lambda leaf: of_leaf(leaf) or ("", 0))

    # -- telling ----------------------------------------------------------------

    def _tell_stale(self, optimizer: Any, newer: list[Any], unreached: list[Any]) -> None:
        names = listed(_names.parameters(newer[:8]))
        tell(
            Finding(
                "stale_optimizer",
                f"the optimizer holds {counted(len(unreached), 'tensor')} that the loss does not reach any more; {names}, made after it, took their place and "
                f"{'is' if len(newer) == 1 else 'are'} in no optimizer.",
                _made_at(optimizer),
                "step() updates tensors that nothing uses, and the ones in use never change.",
                "make the optimizer after the model has its final parameters, or give it the new ones: optimizer.add_param_group({'params': [...]}).",
                of_leaf(newer[0]),
                "the new parameters come from",
            )
        )

    def _tell_forgotten(self, optimizer: Any, leaves: list[Any]) -> None:
        place = of_leaf(leaves[0])
        same = [leaf for leaf in leaves if of_leaf(leaf) == place]
        names = listed(sorted(_names.parameters(same[:8])))  # gradients come in no particular order
        tell(
            Finding(
                "disconnected_parameter",
                f"{names} get{'s' if len(same) == 1 else ''} a gradient in every step, but no optimizer has {'it' if len(same) == 1 else 'them'}.",
                place,
                "a tensor that no step updates keeps its first values for ever.",
                "keep layers in nn.ModuleList or nn.ModuleDict and tensors as nn.Parameter, so that parameters() finds them, or give them to the optimizer; "
                "where it is to stay as it is: requires_grad_(False).",
                _made_at(optimizer),
                "the optimizer was made at",
            )
        )

    def _tell_unreached(self, optimizer: Any, unreached: list[Any], still: list[Any], used: set[int]) -> None:
        sure = [p for p in still if not any(p in table for table in (training.explained, self._waiting, self._differentiated))]
        sure = [p for p in sure if id(p) in used or _owners.is_never_used(p, _made_at(optimizer))]
        sure = [p for p in sure if not _owners.is_left_by_a_library(p, unreached)]
        if not sure:
            return
        place = of_leaf(sure[0])
        same = [p for p in sure if of_leaf(p) == place]
        names = listed(_names.parameters(same[:8]))
        one = len(same) == 1
        how = "computed with, but nothing of it reaches the loss" if id(same[0]) in used else "not used by the model"
        fix = "use its result in the loss, or remove it from the model; where it is to stay as it is: requires_grad_(False)."
        if same[0] in self._numbers:
            how = "used as a number alone (item(), float(), tolist())"
            fix = "compute with the parameter itself, without .item(), float(), int() or .tolist(): numbers have no history."
        finding = Finding(
            "disconnected_parameter",
            f"the optimizer has {names}, which {'is' if one else 'are'} {how}: no backward has reached {'it' if one else 'them'}.",
            place,
            f"{'it never gets' if one else 'they never get'} a gradient, so {'it never learns' if one else 'they never learn'}.",
            fix,
            _made_at(optimizer),
            "the optimizer was made at",
        )
        if id(same[0]) in used and _owners.may_be_used_later(same[0], training.forward):
            for leaf in same:
                self._waiting[leaf] = _values(leaf), finding
        else:
            tell(finding)

    def ending(self) -> None:
        for leaf, (values, finding) in self._waiting.items():
            if leaf not in training.leaves and _values(leaf) == values:
                tell(finding)


def _made_at(optimizer: Any) -> Place | None:
    site = getattr(optimizer, "_made_at", None)
    return None if site is None else Place(*site)
