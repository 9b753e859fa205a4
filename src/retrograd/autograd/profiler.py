"""torch.autograd.profiler: records which ops and nodes run and how long they take. `torch.profiler` has schedules and traces on top."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, ClassVar

from retrograd import _C

from .profiler_util import EventList, FunctionEvent, FunctionEventAvg as FunctionEventAvg, Interval as Interval, Kernel as Kernel

__all__ = [
    "EventList",
    "FunctionEvent",
    "KinetoStepTracker",
    "emit_itt",
    "emit_nvtx",
    "kineto_available",
    "profile",
    "record_function",
]


def kineto_available() -> bool:
    """Whether traces can be recorded and written: they can, without PyTorch's library of that name."""
    return True


class record_function(contextlib.ContextDecorator):
    """Gives a block a name in a profile: a context manager and a decorator, which does nothing while nobody records."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args
        self._handle = 0

    def _recreate_cm(self) -> record_function:  # each call of a decorated function is a block of its own
        return type(self)(self.name, self.args)

    def __enter__(self) -> record_function:
        self._handle = _C._begin_block(self.name)
        return self

    def __exit__(self, *error: object) -> None:
        handle, self._handle = self._handle, 0
        if handle:
            _C._end_block(handle)

    def _call_end_callbacks_on_future(self, future: Any) -> Any:
        """The block ends when the future does, on whatever thread that is."""
        handle, self._handle = self._handle, 0

        def finish(done: Any) -> Any:
            _C._end_block(handle)
            return done.value()

        return future.then(finish)


class profile:
    """Records the ops, nodes and named blocks of this thread inside a `with` block; read it after.

    Args:
        enabled: whether to record at all.
        record_shapes: the sizes, dtypes and numbers that ops are called with.
        with_flops: how many floating-point operations the products and convolutions are.
        profile_memory: what tensors hold, before and after.
        with_stack: the Python functions that run, and the lines of the program that ops are called from.
        with_modules: which modules they are part of.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        self.enabled, self.use_cpu, self.acc_events = enabled, use_cpu, acc_events
        self.record_shapes, self.with_flops, self.profile_memory = record_shapes or with_flops, with_flops, profile_memory
        self.with_stack, self.with_modules, self.experimental_config = with_stack, with_modules, experimental_config
        self.use_device: str | None = None
        if use_cuda or use_device is not None:
            import warnings

            device = use_device or "cuda"
            warnings.warn(f"{device.upper()} is not available, disabling {device.upper()} profiling", stacklevel=2)
        if enabled and not use_cpu:
            raise AssertionError(
                "Device-only events supported only with Kineto (use_kineto=True), and here there is the CPU alone: use_cpu=True"
            )
        self.custom_trace_id_callback, self.trace_id = custom_trace_id_callback, ""
        self.entered = False
        self.recording: Any = None
        self._events: Any = None
        self._earlier: list[Any] = []  # with acc_events
        self.metadata: dict[str, str] = {}

    # -- recording --------------------------------------------------------------

    def __enter__(self) -> profile | None:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self._start()
        return self

    def _start(self) -> None:
        from retrograd.profiler._recording import Recording

        if self.acc_events and self.recording is not None:
            self._earlier = list(self.function_events)
        config = self.experimental_config
        recording = Recording(
            shapes=self.record_shapes,
            memory=self.profile_memory,
            stack=self.with_stack,
            modules=self.with_modules,
            with_flops=self.with_flops,
            all_threads=bool(getattr(config, "profile_all_threads", False)),
            overloads=bool(getattr(config, "capture_overload_names", False)),
        )
        self.entered, self._events, self.recording = True, None, recording
        recording.start()

    def __exit__(self, *error: object) -> None:
        if self.enabled and self.recording is not None:
            self.recording.stop()
            self.entered = False

    # -- what was recorded ------------------------------------------------------

    @property
    def function_events(self) -> Any:
        """The events; made when they are first asked for."""
        if self._events is None:
            if self.recording is None or self.entered:
                return EventList([])
            events = self.recording.events()
            events[:0] = self._earlier
            self._events = events
        return self._events

    def __repr__(self) -> str:
        return "<unfinished torch.autograd.profile>" if self.recording is None or self.entered else repr(self.function_events)

    def __str__(self) -> str:
        return "<unfinished torch.autograd.profile>" if self.recording is None or self.entered else self.table()

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:
        widths = (max_src_column_width, max_name_column_width, max_shapes_column_width)
        text: str = self.function_events.table(sort_by, row_limit, *widths, header, top_level_events_only)
        return text

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False) -> Any:
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self) -> Any:
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        total: float = self.function_events.self_cpu_time_total
        return total

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self.function_events.export_stacks(path, metric)

    def export_chrome_trace(self, path: str) -> None:
        """Writes a trace that chrome://tracing and Perfetto show; packed where the name ends in .gz."""
        from retrograd.profiler import _trace

        if self.recording is None:
            raise AssertionError("export_chrome_trace(): nothing was recorded; run something inside the `with` block first")
        options = {"record_shapes": self.record_shapes, "profile_memory": self.profile_memory, "with_stack": self.with_stack}
        options |= {"with_flops": self.with_flops, "with_modules": self.with_modules}
        events = self.recording.events() if self._earlier else self.function_events
        trace = _trace.trace_of(self.recording, events, self.metadata, options)
        if self.custom_trace_id_callback is not None:
            trace["trace_id"] = self.trace_id = self.custom_trace_id_callback()
        _trace.write(path, trace)


# -- other people's profilers ---------------------------------------------------


class emit_nvtx:
    """Would mark ops for NVIDIA's profiler, which needs CUDA: refused where it begins, as PyTorch without CUDA does."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled, self.record_shapes, self.entered = enabled, record_shapes, False

    def __enter__(self) -> emit_nvtx | None:
        if not self.enabled:
            return None
        raise AssertionError(
            "Torch not compiled with CUDA enabled: emit_nvtx() has nothing to mark; profile() records what runs on the CPU"
        )

    def __exit__(self, *error: object) -> None:
        return None


class emit_itt:
    """Would mark ops for Intel's VTune, whose library is not part of this build: refused where it begins."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled, self.record_shapes, self.entered = enabled, record_shapes, False

    def __enter__(self) -> emit_itt | None:
        if not self.enabled:
            return None
        raise RuntimeError("emit_itt(): Intel's ITT library is not part of this build; profile() records what runs on the CPU")

    def __exit__(self, *error: object) -> None:
        return None


class KinetoStepTracker:
    """Counts steps where several things count them: the largest of their counts. A profile takes part, and counts none of its own, as in PyTorch."""

    _current_step = 0
    _step_dict: ClassVar[dict[str, int]] = {}

    @classmethod
    def init_step_count(cls, requester: str) -> None:
        cls._step_dict[requester] = cls._current_step

    @classmethod
    def erase_step_count(cls, requester: str) -> bool:
        return cls._step_dict.pop(requester, None) is not None

    @classmethod
    def increment_step(cls, requester: str) -> int:
        cls._step_dict.setdefault(requester, cls._current_step)
        cls._step_dict[requester] += 1
        cls._current_step = max(cls._current_step, *cls._step_dict.values())
        return cls._current_step

    @classmethod
    def current_step(cls) -> int:
        return cls._current_step
