"""missing_zero_grad: a step that applies gradients of an earlier step once more, or none because they were zeroed before it.

A gradient that a step has used is marked. A backward that adds onto it leaves a stale one, and the next step that applies a stale one is the mistake: until then it may
still be zeroed. Accumulation for one step never marks anything, since no step lies between its backwards.
"""

from __future__ import annotations

import linecache
import re
import weakref
from typing import Any

from retrograd.doctor import _names
from retrograd.doctor._books import WeakTable
from retrograd.doctor._checks.by_hand import ByHand, Listener, grad_of, is_zero, version
from retrograd.doctor._findings import Finding, counted, listed, tell, was_told
from retrograd.doctor._places import Place
from retrograd.doctor._watch import Check, Run, params_of

_ZEROING = re.compile(r"\bzero_grad\(|\.grad\s*=\s*None\b|\.grad\.zero_\(")

EVIDENCE = 2  # steps in a row with nothing to apply: a single one may be a batch that is skipped on purpose


def _only_zeroing(place: Place | None) -> Place | None:
    """The line of a file that zeroes gradients, if there is just one: setting them to None cannot be seen, and it may not have run yet."""
    if place is None:
        return None
    lines = [number for number, line in enumerate(linecache.getlines(place.file), 1) if _ZEROING.search(line.partition("#")[0])]
    return Place(place.file, lines[0], "") if len(lines) == 1 else None


class _Entry:
    """What is known of the gradient of one leaf."""

    __slots__ = ("also", "empty", "given", "lost", "mark", "open", "order", "stale", "used")

    def __init__(self) -> None:
        self.clear()
        self.empty = 0  # steps in a row with nothing to apply
        self.given = False  # a backward gave something since the last step
        self.lost: Place | bool = False  # and it was zeroed since, where

    def clear(self) -> None:
        self.used: Any = None  # weak reference to the gradient as a step has used it
        self.order = 0  # and when
        self.stale: Place | None = None  # the backward that added onto it
        self.open = False  # it was for another optimizer, which has stepped since: the next backward is the one to name
        self.mark: Any = None  # weak reference to the gradient after that
        self.also: Place | None = None


class MissingZeroGrad(Check, Listener):
    def __init__(self, by_hand: ByHand) -> None:
        by_hand.listeners.append(self)
        self.forget()

    def forget(self) -> None:
        self._entries: WeakTable[_Entry] = WeakTable()
        self._clock = 0
        self._zeroed: tuple[int, Place | None, frozenset[int]] | None = None  # the last zero_grad(): when, where, of what
        self._zeroings: WeakTable[Place] = WeakTable()  # the last one by parameter
        self._before: list[tuple[Any, int, int, bool]] = []
        self._suspects = False  # some entry was stale, or a step had nothing to apply: in most programs none ever is

    def opened(self) -> None:
        self.forget()

    def _entry(self, leaf: Any) -> _Entry:
        return self._entries.setdefault(leaf, _Entry)

    # -- backward ---------------------------------------------------------------

    def before_backward(self, run: Run) -> None:
        self._before = []
        if not run.accumulate:
            return
        for leaf in run.leaves:
            grad, entry = grad_of(leaf), self._entry(leaf)
            if entry.used is not None and (grad is None or entry.used() is not grad or is_zero(grad)):
                entry.clear()
            if entry.stale is not None and (entry.mark is None or entry.mark() is not grad):
                entry.clear()
            self._before.append(
                (leaf, id(grad) if grad is not None else 0, version(grad) if grad is not None else 0, entry.used is not None)
            )

    def after_backward(self, run: Run) -> None:
        before, self._before = self._before, []
        self._clock += 1
        for leaf, grad_id, writes, was_used in before:
            grad, entry = grad_of(leaf), self._entry(leaf)
            if grad is None or (id(grad) == grad_id and version(grad) == writes):
                continue
            entry.given, entry.lost = True, False
            if was_used or entry.open:
                entry.stale, entry.open = run.place, False
                self._suspects = True
                zeroed = self._zeroed
                entry.also = (
                    zeroed[1] if zeroed is not None and zeroed[0] > entry.order else self._zeroings.get(leaf) or _only_zeroing(run.place)
                )
                entry.used = None
            if entry.stale is not None:
                entry.mark = weakref.ref(grad)

    def failed_backward(self) -> None:
        self._before = []

    # -- zeroing ----------------------------------------------------------------

    def zeroed(self, owner: Any, params: list[Any], place: Place | None) -> None:
        self._clock += 1
        self._zeroed = (self._clock, place, frozenset())
        for param in params:
            self._lose(param, place)

    def grad_zeroed(self, leaf: Any, place: Place | None) -> None:
        self._lose(leaf, place)

    def grad_scaled(self, leaf: Any, factor: float, is_number: bool) -> None:
        entry = self._entry(leaf)
        if is_number and entry.used is not None:  # what a step has used is made smaller on purpose, for the next: momentum
            entry.clear()

    def _lose(self, leaf: Any, place: Place | None) -> None:
        entry = self._entry(leaf)
        entry.clear()
        if entry.given and not entry.lost:
            entry.lost = place or True
        if place is not None:
            self._zeroings[leaf] = place

    # -- steps ------------------------------------------------------------------

    def before_step(self, optimizer: Any, place: Place | None) -> None:
        params = params_of(optimizer)
        self._check_stale(params, "step()")
        if not self.has_closure:
            self._check_empty(params, place)

    def evaluating(self, optimizer: Any, times: int) -> None:
        if times > 1:  # what the closure gave before is used already
            self._use(params_of(optimizer))

    def after_step(self, optimizer: Any, place: Place | None) -> None:
        params = params_of(optimizer)
        self._check_stale(params, "step()")  # the backward was in the closure
        self._use(params)
        if self._suspects:
            for _, entry in self._entries.items():
                entry.open = entry.stale is not None

    def updated(self, leaf: Any, amount: Any, place: Place | None) -> None:
        self._check_stale([leaf], "update")
        if place is not None:  # else it may have been zeroed after it
            self._check_empty([leaf], place)
        self._use([leaf])

    def _use(self, params: list[Any]) -> None:
        self._clock += 1
        for param in params:
            grad, entry = param.grad, self._entry(param)
            entry.clear()
            entry.given, entry.lost = False, False
            if grad is not None:
                entry.used, entry.order = weakref.ref(grad), self._clock

    def _check_stale(self, params: list[Any], what: str) -> None:
        if not self._suspects:
            return
        stale = [
            p
            for p in params
            if (e := self._entry(p)).stale is not None and p.grad is not None and e.mark() is p.grad and not is_zero(p.grad)
        ]
        if not stale:
            return
        entry = self._entry(stale[0])
        place, also = entry.stale, entry.also
        for param in stale:
            self._entry(param).clear()
        if was_told("missing_zero_grad", place):
            return
        names = listed(_names.parameters(stale[:8]))
        count = f"{counted(len(stale), 'parameter')} ({names})" if len(stale) > 1 else names
        tell(
            Finding(
                "missing_zero_grad",
                f"this backward() adds onto gradients that an earlier {what} has used already, and the next {what} applies the sum: {count}.",
                place,
                "every step repeats the steps before it, so training goes in old directions with growing strides.",
                "call optimizer.zero_grad() of the optimizer that has these parameters once per step, before this backward()."
                if what == "step()"
                else "set p.grad = None for each parameter after its update.",
                also,
                "this zero_grad() does not cover it:",
            )
        )

    def _check_empty(self, params: list[Any], place: Place | None) -> None:
        given = [(p, e) for p in params if (e := self._entry(p)).given]
        gone = given and all(p.grad is None or is_zero(p.grad) for p in params) and all(e.lost or p.grad is None for p, e in given)
        self._suspects = self._suspects or bool(gone)
        for param in params if self._suspects else ():
            entry = self._entry(param)
            entry.empty = entry.empty + 1 if gone else 0
        if not gone or max(e.empty for _, e in given) < EVIDENCE:
            return
        lost = next((e.lost for _, e in given if isinstance(e.lost, Place)), None) or _only_zeroing(place)
        tell(
            Finding(
                "missing_zero_grad",
                f"this step has nothing to apply: the gradients that backward() gave to {listed(_names.parameters(params[:8]))} were zeroed before it.",
                place,
                "the parameters never change, so nothing is learned.",
                "zero the gradients before backward(), or after the step: optimizer.zero_grad(); loss.backward(); optimizer.step().",
                lost,
                "they were zeroed at",
            )
        )
