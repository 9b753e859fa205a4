"""checkpoint(debug=True): compares the two runs of a checkpointed function op by op.

Op handlers write down each op of the forward run: its name, the shapes of what it took, and a fingerprint of what it gave. In the second
run the first op that differs is an error that names it, with the line that called it both times.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any, NamedTuple

from retrograd import _C
from retrograd._C import Tensor
from retrograd.autograd.anomaly_mode import _PACKAGE
from retrograd.utils._checkpoint_selective import _tensors


class _Step(NamedTuple):
    op: str
    inputs: tuple[Any, ...]
    values: tuple[Any, ...]
    where: str

    def __str__(self) -> str:
        shapes = ", ".join(f"{str(d).removeprefix('torch.')}{list(s)}" for s, d in self.inputs)
        return f"{self.op}({shapes}) at {self.where}"


def _second_runs() -> int:
    from retrograd.utils.checkpoint import _settings

    return _settings.second_runs


def _where() -> str:
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _fingerprint(tensor: Tensor) -> Any:
    """Two numbers that a change of any entry almost surely changes: equal for equal tensors, NaN included."""
    while level := _C._batch_level(tensor):  # inside vmap: of the whole batch
        tensor = _C._unwrap_batched(tensor, level)[0]
    if tensor.numel() == 0:
        return (0.0, 0.0)
    with _C.no_grad():
        flat = tensor.detach().reshape(-1).double()
        weights = _C._ops.arange(1, flat.numel() + 1, dtype=_C.float64, device=flat.device) % 1009
        return str((flat.sum().item(), (flat * weights).sum().item()))


class _Recorder:
    def __init__(self, inner: Any, steps: list[_Step]) -> None:
        self.inner = inner
        self.steps = steps
        self.complete = False

    def __enter__(self) -> None:
        self.second_runs = _second_runs()
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.inner)  # a selective checkpoint gives results back without running an op: watch before it does
            _C._push_op_handler(self.handle)
            stack.callback(_C._pop_op_handler)
            self.stack = stack.pop_all()

    def __exit__(self, *exc_info: Any) -> Any:
        self.complete = True
        return self.stack.__exit__(*exc_info)

    def handle(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if _second_runs() > self.second_runs:  # of this function or one inside it, by what the function differentiates itself
            return op(*args, **kwargs)
        at = len(self.steps)
        self.steps.append(_step(op, args, kwargs))  # before what it calls
        result = op(*args, **kwargs)
        self.steps[at] = self.steps[at]._replace(values=_values(op, result))
        return result


def _step(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Step:
    inputs = tuple((tuple(t.shape), t.dtype) for t in _tensors(args) + _tensors(list(kwargs.values())))
    return _Step(op.name, inputs, (), _where())


def _values(op: Any, result: Any) -> tuple[Any, ...]:
    return () if op.uninitialized else tuple(_fingerprint(t) for t in _tensors(result))


class _Comparer(_Recorder):
    def __init__(self, inner: Any, first: _Recorder) -> None:
        super().__init__(inner, first.steps)
        self.first = first

    def __enter__(self) -> None:
        self.at = 0
        super().__enter__()

    def handle(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if _second_runs() > self.second_runs:
            return op(*args, **kwargs)
        at, self.at = self.at, self.at + 1
        before = self.steps[at] if at < len(self.steps) else None
        if before is None and not self.first.complete:
            return op(*args, **kwargs)
        now = _step(op, args, kwargs)
        if before is None or before[:2] != now[:2]:
            self.fail(at, "runs another op", before, now)
        result = op(*args, **kwargs)
        if before is not None and before.values != _values(op, result):
            self.fail(at, "gives another result", before, now)
        return result

    def fail(self, at: int, how: str, before: _Step | None, now: _Step) -> None:
        from retrograd.utils.checkpoint import _DEBUGGED, CheckpointError

        earlier = "".join(f"\n  {n}: {s}" for n, s in list(enumerate(self.steps))[max(0, at - 5) : at])
        raise CheckpointError(
            f"torch.utils.checkpoint: the recomputation {how} than the forward pass. The first op that diverged is number {at}:\n"
            f"forward:       {before or 'nothing, the function had ended'}\nrecomputation: {now}"
            + (f"\nBefore it both ran:{earlier}" if earlier else "")
            + _DEBUGGED
        )


def comparing(forward: Any, recompute: Any) -> tuple[_Recorder, _Comparer]:
    """The contexts of both runs, with the comparison around them."""
    first = _Recorder(forward, [])
    return first, _Comparer(recompute, first)
