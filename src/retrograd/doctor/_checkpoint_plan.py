"""Which modules to checkpoint so that a training step fits into a budget, what that will cost, and doing it.

A step is run once and watched. What each call of a module kept for backward, what went into it and how long it took then tell what other choices would need: the
memory at the moment when backward is about to go through call i is what the calls up to i keep, plus, where call i is checkpointed, what computing it again brings back, plus the
gradients of the parameters of calls after it. The rest (parameters, data, what ops are computing with) is taken to stay as it was at the measured peak.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from retrograd import _C, doctor
from retrograd._memory import _readable
from retrograd.doctor._memory import Span, memory


class Block(NamedTuple):
    """A call of a module that may be checkpointed."""

    path: str
    module: Any
    saved: dict[int, int]  # memory that it keeps for backward: address, bytes
    inputs: dict[int, int]  # what went in: a checkpoint keeps it
    gradients: int  # of its parameters
    seconds: float


class Plan:
    """A choice of modules, with what a step is expected to need.

    Attributes:
        modules: paths of the modules to checkpoint.
        peak: bytes of tensors at the peak, predicted.
        measured_peak: the same without checkpoints, measured.
        added_seconds: the time that computing them a second time takes, of one step.
        step_seconds: of one step without checkpoints.
    """

    def __init__(self, blocks: Sequence[Block], chosen: set[str], peak: int, measured_peak: int, step_seconds: float, budget: int) -> None:
        self.modules = [block.path for block in blocks if block.path in chosen]
        self.peak, self.measured_peak, self.step_seconds, self.budget = peak, measured_peak, step_seconds, budget
        self.added_seconds = sum(block.seconds for block in blocks if block.path in chosen)
        self._blocks = {block.path: block.module for block in blocks}
        self._undo: list[Callable[[], None]] = []

    @property
    def fits(self) -> bool:
        return self.peak <= self.budget

    def apply(self) -> Plan:
        """Lets each module chosen run under a checkpoint from now on."""
        from retrograd.utils.checkpoint import checkpoint

        for path in self.modules:
            module = self._blocks[path]
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
        head = (
            f"peak {_readable(self.measured_peak)} measured, {_readable(self.peak)} predicted with {len(self.modules)} modules checkpointed"
            f" (budget {_readable(self.budget)}{'' if self.fits else ', which cannot be met by checkpoints'}), +{share:.0f} % time"
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


def _blocks(model: Any, used: memory) -> list[Block]:
    """The calls that a checkpoint may stand around, in order: the members of lists and sequences of modules, none inside another."""
    from retrograd import nn

    members = dict(model.named_modules())
    candidates = {
        f"{path}.{name}" if path else name
        for path, module in members.items()
        if isinstance(module, nn.Sequential | nn.ModuleList | nn.ModuleDict)
        for name in module._modules
    } or {path for path in members if path and "." not in path}
    spans = sorted((span for span in used.spans if span.path in candidates), key=lambda span: (span.first, -span.end))
    outer: list[Span] = []
    for span in spans:
        if not outer or span.first >= outer[-1].end:
            outer.append(span)
    calls = [span.path for span in outer]
    blocks = []
    sizes = {address: size for _, address, size in used.peak.kept}
    fixed = used.peak.others
    for span in outer:
        if calls.count(span.path) > 1:
            continue  # called several times in a step: its calls are checkpointed together or not at all, which is left alone
        saved = {address: sizes[address] for sequence, address in used.peak.uses if span.first <= sequence < span.end and address in sizes}
        inputs = {address: size for address, size in span.inputs if size and address not in fixed}
        module = members[span.path]
        gradients = sum(p.numel() * p.element_size() for p in module.parameters() if p.requires_grad)
        blocks.append(Block(span.path, module, saved, inputs, gradients, span.seconds))
    return blocks


def _predict(blocks: Sequence[Block], chosen: set[str], measured: int) -> int:
    def peak(chosen: set[str]) -> int:
        held: dict[int, int] = {}
        most, gradients = 0, sum(block.gradients for block in blocks)
        for block in blocks:
            again = block.path in chosen
            held |= block.inputs if again else block.saved
            gradients -= block.gradients
            back = sum(size for address, size in block.saved.items() if address not in held) if again else 0
            most = max(most, sum(held.values()) + gradients + back)
        return most

    return measured - peak(set()) + peak(chosen)


def bytes_of(budget: int | str) -> int:
    """1024, "1 KiB", "1.5 GB"."""
    if not isinstance(budget, str):
        return int(budget)
    match = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?)(i?)b?\s*", budget, re.IGNORECASE)
    if match is None:
        raise ValueError(f"a budget is a number of bytes or words such as '512 MB' or '1.5 GiB', got {budget!r}")
    base = 1024 if match[3] else 1000
    return int(float(match[1]) * base ** (" kmgt".index(match[2].lower() or " ")))


def plan(model: Any, step: Callable[[], Any], budget: int | str) -> Plan:
    """Runs step() once, watched, and chooses modules so that its peak is within the budget at the least added time."""
    limit = bytes_of(budget)
    with memory(model) as used:
        step()
    with doctor.off():
        began = time.perf_counter()
        step()
        seconds = time.perf_counter() - began
    blocks = _blocks(model, used)
    measured = used.peak.allocated
    chosen: set[str] = set()
    by_worth: Iterable[Block] = sorted(blocks, key=lambda block: -sum(block.saved.values()) / max(block.seconds, 1e-9))
    for block in by_worth:
        if _predict(blocks, chosen, measured) <= limit:
            break
        if sum(block.saved.values()) > sum(block.inputs.values()):
            chosen.add(block.path)
    return Plan(blocks, chosen, _predict(blocks, chosen, measured), measured, seconds, limit)
