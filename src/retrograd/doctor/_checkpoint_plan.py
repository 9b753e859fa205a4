"""Which modules to checkpoint so that a training step fits into a budget, what that will cost, and doing it.

A step is run once and watched; what it will take with any choice of modules follows from that (`_timeline.py`). A second run tells the time of each module, and a few more what the
choice costs.
"""

from __future__ import annotations

import functools
import itertools
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from retrograd import _C, doctor
from retrograd._memory import _readable
from retrograd.doctor._timeline import Call, Recording, Timeline
from retrograd.random import get_rng_state

ROUNDS, LONG = 10, 0.3  # of timing, and seconds after which there is no further one


class Plan:
    """A choice of modules, with what a step is expected to need.

    Attributes:
        modules: paths of the modules to checkpoint.
        peak: bytes of tensors at the peak of a step with them. Where it is more than the budget, it is the least that was found.
        measured_peak: the same without checkpoints.
        added_seconds: the time that computing them a second time takes, of one step.
        step_seconds: of one step without checkpoints.
    """

    def __init__(self, modules: dict[str, Any], peak: int, measured_peak: int, budget: int) -> None:
        self.modules = list(modules)
        self.peak, self.measured_peak, self.budget = peak, measured_peak, budget
        self.step_seconds = self.added_seconds = 0.0
        self._modules = modules
        self._undo: list[Callable[[], None]] = []

    @property
    def fits(self) -> bool:
        return self.peak <= self.budget

    def apply(self) -> Plan:
        """Lets each module chosen run under a checkpoint from now on."""
        from retrograd.utils.checkpoint import checkpoint

        for module in self._modules.values():
            own = module.__dict__.get("forward")
            module.forward = functools.partial(_checkpointed, checkpoint, module.forward)
            self._undo.append(functools.partial(_restore, module, own))
        return self

    def remove(self) -> None:
        """Takes the checkpoints off again."""
        while self._undo:
            self._undo.pop()()

    def __str__(self) -> str:
        share = 100 * self.added_seconds / self.step_seconds if self.step_seconds else 0.0
        fails = "" if self.fits else f", which checkpoints cannot meet: {_readable(self.peak)} is the least"
        head = (
            f"peak {_readable(self.measured_peak)} measured, {_readable(self.peak)} predicted with {len(self.modules)} modules checkpointed"
            f" (budget {_readable(self.budget)}{fails}), +{share:.0f} % time"
        )
        return "\n".join([head, *(f"  {path}" for path in self.modules)])

    __repr__ = __str__


def _restore(module: Any, own: Any) -> None:
    if own is None:
        del module.__dict__["forward"]
    else:
        module.forward = own


def _checkpointed(checkpoint: Any, forward: Any, *args: Any, **kwargs: Any) -> Any:
    return checkpoint(forward, *args, use_reentrant=False, **kwargs) if _C.is_grad_enabled() else forward(*args, **kwargs)


def _outermost(calls: Iterable[Call]) -> list[Call]:
    """The calls that are in no other, in order."""
    outer: list[Call] = []
    inner: set[str] = set()
    for call in sorted(calls, key=lambda call: (call.begins, -call.ends)):
        if call.first == call.end:  # records nothing
            continue
        if not outer or call.begins >= outer[-1].ends:
            outer.append(call)
        else:
            inner.add(call.path)
    return [call for call in outer if call.path not in inner]  # a module is checkpointed wherever it is called


def _candidates(model: Any, calls: Sequence[Call]) -> Iterator[list[Call]]:
    """Cuts of a step into calls that a checkpoint may stand around: members of lists and sequences of modules, or the largest modules below the model."""
    from retrograd import nn

    members = {
        f"{path}.{name}" if path else name
        for path, module in model.named_modules()
        if isinstance(module, nn.Sequential | nn.ModuleList | nn.ModuleDict)
        for name in module._modules
    }
    small = _outermost(call for call in calls if call.path in members)
    large = _outermost(call for call in calls if call.path)
    yield small
    if large != small:
        yield large


class _Choice(NamedTuple):
    """Calls to checkpoint, better ones first: those that fit, then those that take less time, or else less memory."""

    excess: int  # bytes at the peak beyond the limit
    seconds: float
    peak: int
    paths: list[str]


def _choose(timeline: Timeline, seconds: dict[str, float], limit: int) -> _Choice:
    """Checkpoints what is there at the peak, the most bytes per second first, until the peak is within the limit or does not get less."""
    groups: dict[str, frozenset[int]] = {}
    for i, call in enumerate(timeline.blocks):
        groups[call.path] = groups.get(call.path, frozenset()) | {i}
    times = {path: max(seconds[path], 1e-9) for path in groups}
    chosen: frozenset[int] = frozenset()
    peak = timeline.peak(chosen)
    best = peak.bytes, chosen
    while peak.bytes > limit:
        gains = {path: timeline.gain(chosen, group, peak.moment) for path, group in groups.items() if not group <= chosen}
        worth = {path: gain / times[path] for path, gain in gains.items() if gain > 0}
        if not worth:
            break
        chosen |= groups[max(worth, key=worth.__getitem__)]
        peak = timeline.peak(chosen)
        best = min(best, (peak.bytes, chosen), key=lambda found: found[0])
    least, chosen = best
    for path in sorted(groups, key=lambda path: -times[path]):  # what later ones made needless
        if groups[path] <= chosen and timeline.peak(chosen - groups[path]).bytes <= max(least, limit):
            chosen -= groups[path]
    most = timeline.peak(chosen).bytes
    paths = [path for path, group in groups.items() if group <= chosen]
    return _Choice(max(0, most - limit), sum(times[path] for path in paths), most, paths)


def bytes_of(budget: int | str) -> int:
    """1024, "1 KiB", "1.5 GB"."""
    if not isinstance(budget, str):
        return int(budget)
    match = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?)(i?)b?\s*", budget, re.IGNORECASE)
    if match is None:
        raise ValueError(f"a budget is a number of bytes or words such as '512 MB' or '1.5 GiB', got {budget!r}")
    base = 1024 if match[3] else 1000
    return int(float(match[1]) * base ** (" kmgt".index(match[2].lower() or " ")))


def _seconds(model: Any, calls: Iterable[Call], step: Callable[[], Any]) -> dict[str, float]:
    """How long the calls of modules take in a step."""
    seconds: dict[str, float] = {}

    def begin(path: str, *_: Any) -> None:
        seconds[path] = seconds.get(path, 0.0) - time.perf_counter()

    def end(path: str, *_: Any) -> None:
        seconds[path] += time.perf_counter()

    handles = []
    for path in {call.path for call in calls}:
        module = model.get_submodule(path)
        handles.append(module.register_forward_pre_hook(functools.partial(begin, path)))
        handles.append(module.register_forward_hook(functools.partial(end, path)))
    try:
        step()
    finally:
        for handle in handles:
            handle.remove()
    return seconds


def _time(found: Plan, step: Callable[[], Any]) -> None:
    """Times steps without and with the checkpoints, in turn: of each the quickest, which nothing else on the machine held up."""

    def timed() -> float:
        since = time.perf_counter()
        step()
        return time.perf_counter() - since

    plain: list[float] = []
    again: list[float] = []
    began = time.perf_counter()
    while not plain or (len(plain) < ROUNDS and time.perf_counter() - began < LONG):
        plain.append(timed())
        if found.modules:
            found.apply()
            try:
                again.append(timed())
            finally:
                found.remove()
    found.step_seconds = min(plain)
    found.added_seconds = max(0.0, min(again, default=0.0) - found.step_seconds)


def plan(model: Any, step: Callable[[], Any], budget: int | str, aside: int = 0) -> Plan:
    """Runs step() a few times, once watched, and chooses modules so that its peak is within the budget at little added time.

    Args:
        aside: bytes of tensors that do not count, since they are there for the time of planning alone.
    """
    limit = bytes_of(budget)
    with doctor.off():
        with Recording(model) as recording:
            step()
        cuts = list(_candidates(model, recording.calls))
        seconds = _seconds(model, itertools.chain(*cuts), step)
        random_bytes = _C._memory_of(get_rng_state())[1]
        timelines = [Timeline(recording, calls, random_bytes) for calls in cuts]
        choice = min(_choose(timeline, seconds, limit + aside) for timeline in timelines)
        plain = timelines[0].peak(frozenset()).bytes
        found = Plan({path: model.get_submodule(path) for path in choice.paths}, choice.peak - aside, plain - aside, limit)
        _time(found, step)
    return found
