"""exploding_gradient: a gradient far beyond those of the steps before, still finite, that is applied as it is.

The core compares the gradients of each place of the program with those before (Sizes in csrc/python/doctor.cpp), in every run. What is left is to see whether the step uses
them: clipping, or a batch that is skipped, is the repair.
"""

from __future__ import annotations

from typing import Any

from retrograd import _C
from retrograd.doctor._books import WeakTable
from retrograd.doctor._checks.by_hand import ByHand, Listener
from retrograd.doctor._findings import Finding, found, tell
from retrograd.doctor._places import Place
from retrograd.doctor._watch import JUMP, Check, Run, params_of

APPLIED = 0.3  # the part of the gradient that at least has to be left: less is clipped


INFINITE = float("inf")
_CAUSES = ("nan_origin", "custom_function_wrong_gradient")


def _sample(param: Any) -> Any:
    return param.detach().reshape(-1)[:4096]


def _largest(tensors: list[Any]) -> float:
    sizes = [_C._doctor_largest(t) for t in tensors]
    return max((size for size in sizes if size is not None), default=0.0)


def _is_known(optimizer: Any) -> bool:
    """Whether it is one of the library's."""
    return type(optimizer).__module__.partition(".")[0] in ("retrograd", "torch")


def _searches(optimizer: Any) -> bool:
    """Whether it may evaluate the loss at several points, and go back from a steep one."""
    return "max_iter" in optimizer.defaults


class ExplodingGradient(Check, Listener):
    def __init__(self, by_hand: ByHand) -> None:
        by_hand.listeners.append(self)
        self.forget()

    def forget(self) -> None:
        self._jump: tuple[Place | None, float, float, float, int] | None = None
        # What updates by hand make of the gradient of a leaf, and steps of an optimizer of the user's.
        self._rates: WeakTable[float] = WeakTable()
        self._before: list[tuple[Any, Any]] = []  # during a step: parameters and copies of their first elements

    def opened(self) -> None:
        self._jump = None

    def after_backward(self, run: Run) -> None:
        if run.trouble & JUMP and run.accumulate:
            self._jump = (run.place, *_C._doctor_jump())

    def before_step(self, optimizer: Any, place: Place | None) -> None:
        self._before = []
        if self.has_closure:
            return
        params = [p for p in params_of(optimizer) if p.grad is not None]
        if not _is_known(optimizer):  # it may clip: what it does is seen afterwards
            self._before = [(p, _sample(p).clone()) for p in params]
        else:
            self._applied(params)

    def _applied(self, params: list[Any]) -> None:
        """An optimizer that takes gradients as they are has those of these parameters."""
        if self._jump is not None and params and _largest([p.grad for p in params]) >= APPLIED * self._jump[1]:
            self._tell()

    def joined_step(self, optimizer: Any) -> None:
        """The loss, and its gradient, came from a closure."""
        if _is_known(optimizer) and not _searches(optimizer):
            self._applied([p for p in params_of(optimizer) if p.grad is not None])
        self._jump = None

    def after_step(self, optimizer: Any, place: Place | None) -> None:
        before, self._before = [(p, values) for p, values in self._before if p.grad is not None], []
        if before:
            size, rate = _largest([p.grad for p, _ in before]), optimizer.param_groups[0].get("lr")
            moved = _largest([_sample(p) - values for p, values in before]) / (rate if isinstance(rate, float) and rate > 0 else 1.0)
            usual = self._rates.get(optimizer)
            if self._jump is None:
                self._rates[optimizer] = min(usual or INFINITE, moved / size if size else INFINITE)
            elif usual is not None and size >= APPLIED * self._jump[1] and moved >= APPLIED * usual * size:
                self._tell()
        elif self.has_closure:
            self.joined_step(optimizer)
        self._jump = None

    def updated(self, leaf: Any, amount: Any, place: Place | None) -> None:
        if amount is None or leaf.grad is None or not isinstance(amount, _C.Tensor):
            return
        size = _largest([leaf.grad])
        rate = _largest([amount]) / size if size else 0.0
        if self._jump is None:
            self._rates[leaf] = rate
        elif size >= APPLIED * self._jump[1] and rate >= APPLIED * (self._rates.get(leaf) or INFINITE):
            self._tell()

    def _tell(self) -> None:
        assert self._jump is not None
        (place, now, last, before, runs), self._jump = self._jump, None
        if any(finding.code in _CAUSES for finding in found):
            return  # it comes of what was told
        tell(
            Finding(
                "exploding_gradient",
                f"the gradient grew by orders of magnitude: its largest element is {now:.3g} here, was {last:.3g} in the backward before and at most {before:.3g} in the "
                f"{runs - 1} before this one, and the step applies it unclipped.",
                place,
                "one such step undoes all the steps before it, and the next ones often end in NaN.",
                "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0) between backward() and step(); if it goes on, a smaller learning rate or normalised inputs.",
            )
        )
