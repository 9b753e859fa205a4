"""Profiles with schedules: which steps of a program are recorded, and what is done with each recording."""

from __future__ import annotations

import dataclasses
import enum
import json
import os
import socket
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from retrograd.autograd import profiler as prof
from retrograd.autograd.profiler import KinetoStepTracker

PROFILER_STEP_NAME = "ProfilerStep"


class ProfilerActivity(enum.Enum):
    """What is recorded; of these there is the CPU alone."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(enum.Enum):
    """What a schedule asks for in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3
    DEVICE_STOPPED = 4


class RecordScope(enum.Enum):
    """What kind of thing an event is."""

    FUNCTION = 0
    BACKWARD_FUNCTION = 1
    TORCHSCRIPT_FUNCTION = 2
    KERNEL_FUNCTION_DTYPE = 3
    CUSTOM_CLASS = 4
    BUILD_FEATURE = 5
    LITE_INTERPRETER = 6
    USER_SCOPE = 7


class _ExperimentalConfig:
    """Options for other profilers, taken as they are. `profile_all_threads` and `capture_overload_names` mean something here."""

    def __init__(
        self,
        profiler_metrics: Iterable[str] = (),
        profiler_measure_per_kernel: bool = False,
        verbose: bool = False,
        performance_events: Iterable[str] = (),
        enable_cuda_sync_events: bool = False,
        adjust_profiler_step: bool = False,
        disable_external_correlation: bool = False,
        profile_all_threads: bool = False,
        capture_overload_names: bool = False,
        record_python_gc_info: bool = False,
        expose_kineto_event_metadata: bool = False,
        custom_profiler_config: str = "",
        adjust_timestamps: bool = False,
        trace_only: bool = False,
    ) -> None:
        self.profile_all_threads, self.capture_overload_names, self.verbose = profile_all_threads, capture_overload_names, verbose


class ExecutionTraceObserver:
    """Would write the graph of ops that ran for other tools; refused where it is asked to."""

    def register_callback(self, output_file_path: str) -> ExecutionTraceObserver:
        raise NotImplementedError(
            "ExecutionTraceObserver: execution traces are not written here; profile() and export_chrome_trace() show what ran"
        )


def supported_activities() -> set[ProfilerActivity]:
    return {ProfilerActivity.CPU}


def tensorboard_trace_handler(dir_name: str, worker_name: str | None = None, use_gzip: bool = False) -> Callable[[Any], None]:
    """A function for `on_trace_ready` that writes each recording into a folder, as TensorBoard's plugin finds it."""

    def write(recorded: Any) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError(f"Can't create directory: {dir_name}") from error
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        recorded.export_chrome_trace(os.path.join(dir_name, f"{worker}.{time.time_ns()}.pt.trace.json" + (".gz" if use_gzip else "")))

    return write


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """A function from the number of a step to what is done in it: after skip_first steps, cycles of wait, warmup and active ones."""
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} (need >= 0), active={active} (need > 0), "
            f"repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0)."
        )

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        if skip_first_wait:
            step += wait
        cycle = wait + warmup + active
        if repeat > 0 and step // cycle >= repeat:
            return ProfilerAction.NONE
        place = step % cycle
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class _KinetoProfile:
    """One recording by hand: start(), stop(), and what there is to read after."""

    activities: Any = None  # of ProfilerActivity, a set of them once it is made
    record_shapes: bool = False
    profile_memory: bool = False
    with_stack: bool = False
    with_flops: bool = False
    with_modules: bool = False
    experimental_config: Any = None
    execution_trace_observer: Any = None
    acc_events: bool = False
    custom_trace_id_callback: Callable[[], str] | None = None
    post_processing_timeout_s: float | None = None

    def __post_init__(self) -> None:
        given = supported_activities() if self.activities is None else self.activities
        asked = {a for one in given for a in (one if isinstance(one, dict) else (one,))}
        if not asked:
            raise AssertionError("No valid profiler activities found")
        wrong = [a for a in asked if not isinstance(a, ProfilerActivity)]
        if wrong:
            raise TypeError(f"profile: activities must be of ProfilerActivity, got {wrong[0]!r}")
        self.activities = asked
        self.profiler: prof.profile | None = None
        self.use_device: str | None = None
        self.preset_metadata: dict[str, str] = {}

    def start(self) -> None:
        self.prepare_trace()
        self.start_trace()

    def stop(self) -> None:
        self.stop_trace()

    def prepare_trace(self) -> None:
        for activity in self.activities - {ProfilerActivity.CPU}:
            warnings.warn(f"{activity.name} is not available, disabling {activity.name} profiling", stacklevel=2)
        if ProfilerActivity.CPU not in self.activities:
            raise AssertionError("No activities specified for the profiler")
        if self.profiler is not None and not self.acc_events:
            warnings.warn(
                "Profiler clears events at the end of each cycle. Only events from the current cycle will be reported. "
                "To keep events across cycles, set acc_events=True.",
                stacklevel=5,
            )
        if self.profiler is None or not self.acc_events:
            self.profiler = prof.profile(
                record_shapes=self.record_shapes,
                with_flops=self.with_flops,
                profile_memory=self.profile_memory,
                with_stack=self.with_stack,
                with_modules=self.with_modules,
                experimental_config=self.experimental_config,
                acc_events=self.acc_events,
                custom_trace_id_callback=self.custom_trace_id_callback,
            )
            self.profiler.metadata = dict(self.preset_metadata)

    def start_trace(self) -> None:
        self._recorded("starting the trace")._start()

    def stop_trace(self) -> None:
        profiler = self._recorded("stopping the trace")
        if profiler.entered:
            profiler.__exit__()

    def _recorded(self, purpose: str) -> prof.profile:
        if self.profiler is None:
            raise AssertionError(f"Profiler must be initialized before {purpose}")
        return self.profiler

    # -- what was recorded ------------------------------------------------------

    def events(self) -> Any:
        """All events, in the order in which they began."""
        return self._recorded("accessing events").function_events

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False) -> Any:
        """Events of one name together; of one name and input shapes, or innermost lines of the program, where that is asked for."""
        return self._recorded("getting key averages").key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def export_chrome_trace(self, path: str) -> None:
        """Writes a trace that chrome://tracing and Perfetto show; packed where the name ends in .gz."""
        self._recorded("exporting chrome trace").export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Writes the stacks of the program with their times, for flame graphs. Needs with_stack=True."""
        self._recorded("exporting stacks").export_stacks(path, metric)

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        raise NotImplementedError(
            "export_memory_timeline: tensors are not told apart by what they are for. With profile_memory=True, key_averages().table() shows the "
            "memory of each op, and export_chrome_trace() what all tensors held over time"
        )

    def add_metadata(self, key: str, value: str) -> None:
        """Text that the trace is to carry."""
        self.add_metadata_json(key, json.dumps(value))

    def add_metadata_json(self, key: str, value: str) -> None:
        """The same, as JSON."""
        profiler = self._recorded("adding metadata") if self.profiler is None else self.profiler
        json.loads(value)
        profiler.metadata[key] = value

    def preset_metadata_json(self, key: str, value: str) -> None:
        """Metadata of every recording to come."""
        json.loads(value)
        self.preset_metadata[key] = value

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[ProfilerActivity]) -> None:
        raise NotImplementedError("toggle_collection_dynamic: use a schedule, or start() and stop(), to choose what is recorded")


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class profile(_KinetoProfile):
    """Records the ops, nodes and named blocks of this thread inside a `with` block, or in the steps that a schedule picks.

    Args:
        activities: ProfilerActivity.CPU, the only one that there is.
        schedule: a function from the number of a step to a ProfilerAction, as `schedule()` makes; steps end where step() is called.
        on_trace_ready: called with the profile when a recording is finished, to export it, say.
        record_shapes: the sizes, dtypes and numbers that ops are called with.
        profile_memory: what tensors hold, before and after.
        with_stack: the Python functions that run, and the lines of the program that ops are called from.
        with_flops: how many floating-point operations the products and convolutions are.
        with_modules: which modules they are part of.
    """

    schedule: Any = None  # from the number of a step to a ProfilerAction
    on_trace_ready: Callable[..., Any] | None = None
    use_cuda: dataclasses.InitVar[bool | None] = None

    def __post_init__(self, use_cuda: bool | None) -> None:
        if use_cuda is not None:
            warnings.warn("`use_cuda` is deprecated, use `activities` argument instead", FutureWarning, stacklevel=3)
            asked = supported_activities() if self.activities is None else self.activities
            self.activities = [*asked, ProfilerActivity.CUDA] if use_cuda else asked
        super().__post_init__()
        self.record_steps = self.schedule is not None
        if self.schedule is None:
            self.schedule = lambda step: ProfilerAction.RECORD
        self.step_num = 0
        self.current_action = self.schedule(self.step_num)
        self.step_rec_fn: prof.record_function | None = None
        KinetoStepTracker.init_step_count(PROFILER_STEP_NAME)

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
        KinetoStepTracker.erase_step_count(PROFILER_STEP_NAME)

    def start(self) -> None:
        self._move(ProfilerAction.NONE, self.current_action)
        self._begin_step()

    def stop(self) -> None:
        self._end_step()
        self._move(self.current_action, None)

    def step(self) -> None:
        """The next step begins."""
        self._end_step()
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        self._move(before, self.current_action)
        self._begin_step()

    def _begin_step(self) -> None:
        if self.record_steps and self.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            self.step_rec_fn = prof.record_function(f"ProfilerStep#{self.step_num}")
            self.step_rec_fn.__enter__()

    def _end_step(self) -> None:
        if self.step_rec_fn is not None:
            self.step_rec_fn.__exit__(None, None, None)
            self.step_rec_fn = None

    def _move(self, before: ProfilerAction, after: ProfilerAction | None) -> None:
        """From the action of one step to that of the next; None is the end."""
        recording = before in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        records = after in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        saves = before is ProfilerAction.RECORD_AND_SAVE or (after is None and recording)
        if recording and (saves or not records):
            if not saves:
                warnings.warn(
                    "Incorrect schedule: RECORD followed by NONE or WARMUP; the recording ends here without being handed over", stacklevel=4
                )
            self.stop_trace()
            if saves and self.on_trace_ready is not None:
                self.on_trace_ready(self)
        if records and (saves or not recording):
            self.prepare_trace()
            self.start_trace()

    def get_trace_id(self) -> str | None:
        return self.profiler.trace_id if self.profiler is not None else None

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        self.custom_trace_id_callback = callback
