"""One stretch of recording: the core's events (csrc/python/profile.cpp) as FunctionEvents, with PyTorch's names."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from retrograd import _C
from retrograd.autograd.profiler_util import MEMORY_EVENT_NAME, EventList, FunctionEvent

from ._flops import flops
from ._trace import type_name

# The kinds of events, as csrc/core/events.h counts them.
_OP, _EVALUATE, _NODE, _BLOCK, _MODULE, _FUNCTION = range(6)
_SCOPES = {_NODE: 1, _BLOCK: 7}
_STEPS = "ProfilerStep*"  # together in tables; traces show each by its number

_ENGINE = {"AccumulateGrad": "torch::autograd::AccumulateGrad", "CopySlices": "torch::autograd::CopySlices"}

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_OWN = (os.path.join(_PACKAGE, "profiler", ""), os.path.join(_PACKAGE, "autograd", "profiler.py"))


def _flipped(tensor: Any, flip: bool = True) -> Any:
    dtype, sizes, strides = tensor
    return (dtype, sizes[::-1], strides[::-1]) if flip else tensor


def _product(given: list[Any]) -> list[Any]:
    left, right, left_flipped, right_flipped, columnwise = given
    if columnwise:  # what PyTorch computes then is the transposed product
        return [_flipped(right, not right_flipped), _flipped(left, not left_flipped)]
    return [_flipped(left, left_flipped), _flipped(right, right_flipped)]


# Ops of ours that compute what PyTorch has a name for, and their arguments as PyTorch would give them: a product with its transposes
# folded in, a product with a bias, a sum to the shape of an input and the way back, a product with a number, a copy, random zeros and
# ones, attention, and derivatives.
_KNOWN_AS: dict[str, tuple[str, Callable[[list[Any]], list[Any]]]] = {
    "_mm": ("mm", _product),
    "_linear": ("addmm", lambda given: [given[2], given[0], _flipped(given[1]), 1, 1]),
    "_sum_to": ("sum", lambda given: [given[0], given[1], True, None]),
    "_expand_reduced": ("expand", lambda given: [given[0], given[1], False]),
    "_scaled_product": ("mul", lambda given: given[:2]),
    "_clone_as": ("clone", lambda given: [given[0], None]),
    "_bernoulli_like": ("bernoulli_", lambda given: [*given, None]),
    "_gelu_backward": ("gelu_backward", lambda given: [*given, None]),
    "_gelu_tanh_backward": ("gelu_backward", lambda given: [*given, None]),
    "_attention": ("_scaled_dot_product_flash_attention_for_cpu", lambda given: [*given[:3], 0.0, *given[4:]]),
    "_attention_backward": ("_scaled_dot_product_flash_attention_for_cpu_backward", lambda given: given),
    "_convolution_input": ("convolution_backward", lambda given: given),
    "_convolution_weight": ("convolution_backward", lambda given: given),
}


def _file(path: str) -> str:
    """A file as traces name it: from the folder that modules are imported from."""
    for folder in sorted((os.path.abspath(p) for p in sys.path), key=len, reverse=True):
        if path.startswith(folder + os.sep):
            return path[len(folder) + 1 :]
    return path


def _attach_new_thread(*_: Any) -> None:
    """What threading.setprofile() calls first in a thread: it is recorded from here on, and this is not called again."""
    sys.setprofile(None)
    _C._profile_attach()


def _tell_optimizers() -> None:
    """They look at a variable of their file, which costs less than to ask at each step."""
    module = sys.modules.get("retrograd.optim.optimizer")
    if module is not None:
        module._recorded = _C._recording()  # type: ignore[attr-defined]


class _Doctor:
    """What it computes in a close look is not the program's: it is off while anything records, in whichever thread, and then on again if it was."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._recordings = 0
        self._was_on = False

    def leave(self) -> None:
        with self._lock:
            self._recordings += 1
            if self._recordings == 1:
                self._was_on = _C._doctor_state()[0]
                if self._was_on:
                    from retrograd import doctor

                    doctor.off()

    def come_back(self) -> None:
        with self._lock:
            self._recordings -= 1
            if not self._recordings and self._was_on:
                from retrograd import doctor

                doctor.on()


_doctor = _Doctor()


class Recording:
    """Records this thread, or all threads that start while it runs, from start() to stop()."""

    _watching_threads = 0

    def __init__(
        self,
        *,
        shapes: bool = False,
        memory: bool = False,
        stack: bool = False,
        modules: bool = False,
        with_flops: bool = False,
        all_threads: bool = False,
        overloads: bool = False,
    ) -> None:
        self.shapes, self.memory, self.stack, self.modules = shapes, memory, stack, modules
        self.with_flops, self.all_threads, self.overloads = with_flops, all_threads, overloads
        self._session: Any = None
        self._results: Any = None
        self.wall_ns = 0

    def start(self) -> None:
        if self.all_threads:
            if not Recording._watching_threads:
                threading.setprofile(_attach_new_thread)
            Recording._watching_threads += 1
        _doctor.leave()
        self.wall_ns = time.time_ns()
        self._session = _C._profile_start(self.shapes or self.with_flops, self.stack, self.modules or self.stack, self.all_threads)
        _tell_optimizers()

    def stop(self) -> None:
        _C._profile_stop(self._session)
        _tell_optimizers()
        _doctor.come_back()
        if self.all_threads:
            Recording._watching_threads -= 1
            if not Recording._watching_threads:
                threading.setprofile(None)

    def _read(self) -> Any:
        if self._results is None:
            self._results = _C._profile_results(self._session)
        return self._results

    @property
    def duration_us(self) -> float:
        start, end, *_ = self._read()
        return float(end - start) / 1000

    @property
    def thread_ids(self) -> dict[int, int]:
        return {thread: system_id for thread, system_id, _ in self._read()[4]}

    def memory_levels(self) -> Iterator[tuple[int, float, int]]:
        """(thread, microseconds, bytes that tensors held) at the beginning and the end of every event, in the order of time."""
        began, *_, threads = self._read()
        marks = []
        for thread, _, rows in threads:
            for row in rows:
                marks += [(row[2], thread, row[6]), (row[3], thread, row[7])]
        for moment, thread, allocated in sorted(marks):
            yield thread, (moment - began) / 1000, allocated

    # -- events -----------------------------------------------------------------

    def events(self) -> EventList:
        """The events of all threads, in the order in which they began."""
        began, ended, allocated, left, threads = self._read()
        found: list[FunctionEvent] = []
        names = _Names()
        for i, (thread, _, rows) in enumerate(threads):
            edges = ((began, allocated), (ended, left)) if i == 0 else None
            found += self._thread_events(thread, rows, began, edges, names)
        if len(threads) > 1:
            found.sort(key=lambda event: event.time_range.start)
        forward = {event.sequence_nr: event.thread for event in found if event.scope == 0 and not event.fwd_thread}
        for index, event in enumerate(found):
            event.id = index + 1
            if event.fwd_thread:
                event.fwd_thread = forward.get(event.sequence_nr, 0)
        return EventList(found, profile_memory=self.memory, with_flops=self.with_flops)

    def _thread_events(self, thread: int, rows: list[Any], began: int, edges: Any, names: _Names) -> list[FunctionEvent]:
        """`edges`: when the recording began and ended, and what tensors held then. The thread that began it is told."""
        made: list[FunctionEvent | None] = []
        found: list[FunctionEvent] = []
        allocated = edges[0][1] if edges else None  # when the last event that no other is around ended
        for kind, subject, start, end, parent, number, before, after, arguments, elsewhere in rows:
            if kind == _FUNCTION and subject.co_filename.startswith(_OWN):  # the profiler's own
                made.append(None)
                continue
            name, overload = names.of(kind, subject, number)
            if kind == _OP and arguments is not None and subject[0] in _KNOWN_AS:
                arguments = _KNOWN_AS[subject[0]][1](arguments)
            event = FunctionEvent(
                0,
                _STEPS if kind == _BLOCK and name.startswith("ProfilerStep#") else name,
                thread,
                (start - began) / 1000,
                (end - began) / 1000,
                overload if self.overloads else "",
                fwd_thread=0 if kind not in (_EVALUATE, _NODE) or number < 0 else thread,
                stack=[],
                scope=_SCOPES.get(kind, 0),
                cpu_memory_usage=after - before if self.memory else 0,
                is_async=elsewhere,
                sequence_nr=number if kind <= _NODE else -1,
                is_user_annotation=kind == _BLOCK,
                is_python_function=kind >= _MODULE,
                input_shapes=[],
                concrete_inputs=[],
                kwinputs={},
                trace_name=name,
            )
            if arguments is not None:
                _read_arguments(event, arguments)
                if self.with_flops:
                    event.flops = flops(event)
                if not self.shapes:
                    event.input_shapes, event.concrete_inputs, event.input_dtypes = [], [], None
            outer = _around(event, made, rows, parent)
            if outer is not None:
                event.cpu_parent = outer
                outer.cpu_children.append(event)
            elif self.memory:
                if allocated is not None and allocated != before:  # outside of all events
                    found.append(_memory_event(thread, event.time_range.start, before - allocated))
                allocated = after
            if self.stack and outer is not None:
                event.stack = [outer.name, *(outer.stack or [])] if outer.is_python_function else outer.stack
            made.append(event)
            found.append(event)
        if self.memory and edges and edges[1][1] != allocated:
            found.append(_memory_event(thread, (edges[1][0] - began) / 1000, edges[1][1] - allocated))
        return found


class _Names:
    """PyTorch's names for what ran."""

    def __init__(self) -> None:
        self.made: dict[Any, tuple[str, str]] = {}
        self.modules: dict[tuple[type, int], int] = {}

    def of(self, kind: int, subject: Any, number: int) -> tuple[str, str]:
        if kind == _BLOCK:
            return subject, ""
        key = (kind, subject) if kind <= _NODE else (kind, subject, number)
        name = self.made.get(key)
        if name is None:
            name = self.made[key] = self._make(kind, subject, number)
        return name

    def _make(self, kind: int, subject: Any, number: int) -> tuple[str, str]:
        if kind == _MODULE:
            count = sum(1 for other, _ in self.modules if other is subject)
            self.modules[subject, number] = count
            return f"nn.Module: {subject.__name__}_{count}", ""
        if kind == _FUNCTION:
            return f"{_file(subject.co_filename)}({number}): {subject.co_name}", ""
        name, overload = subject
        if kind == _OP:
            return "aten::" + (_KNOWN_AS[name][0] if name in _KNOWN_AS else name), overload
        name = _ENGINE.get(name, name)
        return (f"autograd::engine::evaluate_function: {name}" if kind == _EVALUATE else name), ""


def _around(event: FunctionEvent, made: list[FunctionEvent | None], rows: list[Any], parent: int) -> FunctionEvent | None:
    """The event that this one is part of. A block begins in the function that enters it, and outlives that."""
    while parent >= 0:
        outer = made[parent]
        if outer is not None and outer.time_range.end >= event.time_range.end and not outer.is_async:
            return outer
        parent = rows[parent][4]
    return None


def _memory_event(thread: int, moment: float, change: int) -> FunctionEvent:
    return FunctionEvent(
        0, MEMORY_EVENT_NAME, thread, moment, moment, "", 0, [], [], cpu_memory_usage=change, concrete_inputs=[], kwinputs={}
    )


def _read_arguments(event: FunctionEvent, arguments: list[Any]) -> None:
    shapes: list[Any] = []
    strides: list[Any] = []
    dtypes: list[str] = []
    values: list[Any] = []
    for value in arguments:
        shape: list[Any] = []
        stride: list[Any] = []
        shown: Any = None
        dtype = ""
        if isinstance(value, tuple):
            shape, stride, dtype = list(value[1]), list(value[2]), type_name(value[0])
        elif isinstance(value, list) and value and isinstance(value[0], tuple):
            shape, stride = ([list(t[i]) if t else [] for t in value] for i in (1, 2))
            dtype = "TensorList"
        elif isinstance(value, list):
            shown, dtype = value, "ScalarList"
        elif isinstance(value, int | float):
            shown, dtype = value, "Scalar"
        shapes.append(shape)
        strides.append(stride)
        dtypes.append(dtype)
        values.append(shown)
    event.input_shapes = event.structured_input_shapes = shapes
    event.structured_input_strides, event.input_dtypes, event.concrete_inputs = strides, dtypes, values
