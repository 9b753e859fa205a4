"""What a profile gives back: events, averages of them, and the tables that PyTorch prints."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from operator import attrgetter
from typing import Any, NamedTuple

__all__ = ["DeviceType", "EventList", "FormattedTimesMixin", "FunctionEvent", "FunctionEventAvg", "Interval", "Kernel"]

MEMORY_EVENT_NAME = "[memory]"
OUT_OF_MEMORY_EVENT_NAME = "[OutOfMemory]"


class DeviceType(enum.Enum):
    """Where an event ran: here the CPU."""

    CPU = 0
    CUDA = 1


# -- how numbers are written ----------------------------------------------------


def _format_time(microseconds: float, unit: str | None = None) -> str:
    if unit is None:
        unit = "s" if microseconds >= 1e6 else "ms" if microseconds >= 1e3 else "us"
    return f"{microseconds / {'s': 1e6, 'ms': 1e3}.get(unit, 1):.3f}{unit if unit in ('s', 'ms') else 'us'}"


def _format_time_share(part: float, whole: float) -> str:
    return f"{part * 100 / whole:.2f}%" if whole else "NaN"


def _format_memory(count: float) -> str:
    for unit, size in (("GB", 1024**3), ("MB", 1024**2), ("KB", 1024)):
        if abs(count) >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count:g} B" if isinstance(count, float) else f"{count} B"


def _attr_formatter(name: str) -> property:
    return property(lambda self: _format_time(getattr(self, name)))


class FormattedTimesMixin:
    """Times as text, and times per call."""

    cpu_time_total: float
    device_time_total: float
    count: int

    cpu_time_str = _attr_formatter("cpu_time")
    cpu_time_total_str = _attr_formatter("cpu_time_total")
    self_cpu_time_total_str = _attr_formatter("self_cpu_time_total")
    device_time_str = _attr_formatter("device_time")
    device_time_total_str = _attr_formatter("device_time_total")
    self_device_time_total_str = _attr_formatter("self_device_time_total")

    @property
    def cpu_time(self) -> float:
        return 0.0 if self.count == 0 else self.cpu_time_total / self.count

    @property
    def device_time(self) -> float:
        return 0.0 if self.count == 0 else self.device_time_total / self.count

    cuda_time = device_time


class Interval:
    """From start to end, in microseconds since the profile began."""

    def __init__(self, start: float, end: float) -> None:
        self.start, self.end = start, end

    def elapsed_us(self) -> float:
        return self.end - self.start


class Kernel(NamedTuple):
    """A kernel of a device; of these there are none."""

    name: str
    device: int
    duration: float


# -- events ---------------------------------------------------------------------


class FunctionEvent(FormattedTimesMixin):
    """One op, node, block, module or function that ran: from when to when, in which, with what."""

    def __init__(
        self,
        id: int,
        name: str,
        thread: int,
        start_us: float,
        end_us: float,
        overload_name: str | None = None,
        fwd_thread: int | None = None,
        input_shapes: list[Any] | None = None,
        stack: list[str] | None = None,
        scope: int = 0,
        use_device: str | None = None,
        cpu_memory_usage: int = 0,
        device_memory_usage: int = 0,
        is_async: bool = False,
        is_remote: bool = False,
        sequence_nr: int = -1,
        node_id: int = -1,
        device_type: DeviceType = DeviceType.CPU,
        device_index: int = 0,
        device_resource_id: int | None = None,
        is_legacy: bool = False,
        flops: int | None = None,
        trace_name: str | None = None,
        concrete_inputs: list[Any] | None = None,
        kwinputs: dict[str, Any] | None = None,
        is_user_annotation: bool = False,
        is_python_function: bool = False,
        input_dtypes: list[str] | None = None,
        input_strides: list[Any] | None = None,
        python_id: int = -1,
        python_parent_id: int = -1,
        python_module_id: int = -1,
    ) -> None:
        self.id, self.name, self.overload_name, self.thread = id, name, overload_name, thread
        self.trace_name = name if trace_name is None else trace_name
        self.time_range = Interval(start_us, end_us)
        self.fwd_thread, self.sequence_nr, self.scope, self.node_id = fwd_thread, sequence_nr, scope, node_id
        self.input_shapes, self.structured_input_strides, self.input_dtypes = input_shapes, input_strides, input_dtypes
        self.structured_input_shapes = input_shapes
        self.concrete_inputs, self.kwinputs, self.stack = concrete_inputs, kwinputs, stack
        self.use_device, self.device_type, self.device_index = use_device, device_type, device_index
        self.device_resource_id = thread if device_resource_id is None else device_resource_id
        self.cpu_memory_usage, self.device_memory_usage, self.flops = cpu_memory_usage, device_memory_usage, flops
        self.is_async, self.is_remote, self.is_legacy = is_async, is_remote, is_legacy
        self.is_user_annotation, self.is_python_function = is_user_annotation, is_python_function
        self.python_id, self.python_parent_id, self.python_module_id = python_id, python_parent_id, python_module_id
        self.count = 1
        self.kernels: list[Kernel] = []
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None

    def append_kernel(self, name: str, device: int, duration: float) -> None:
        self.kernels.append(Kernel(name, device, duration))

    def append_cpu_child(self, child: FunctionEvent) -> None:
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent: FunctionEvent) -> None:
        self.cpu_parent = parent

    @property
    def key(self) -> str:
        return self.name

    @property
    def cpu_time_total(self) -> float:  # type: ignore[override]
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:
        if self.is_async:
            return 0
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        if self.is_async:
            return 0
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    @property
    def device_time_total(self) -> float:  # type: ignore[override]
        return sum(kernel.duration for kernel in self.kernels)

    self_device_time_total = cuda_time_total = self_cuda_time_total = device_time_total

    @property
    def self_device_memory_usage(self) -> int:
        return self.device_memory_usage - sum(child.device_memory_usage for child in self.cpu_children)

    self_cuda_memory_usage = self_device_memory_usage

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name} device_type={self.device_type} "
            f"node_id={self.node_id} cpu_time={self.cpu_time_str} start_us={self.time_range.start} end_us={self.time_range.end} "
            f"cpu_children={[child.id for child in self.cpu_children]} {self.use_device}_time={self.device_time_str} name={self.name} "
            f"thread={self.thread} input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} "
            f"{self.use_device}_memory_usage={self.device_memory_usage} is_async={self.is_async} is_remote={self.is_remote} "
            f"seq_nr={self.sequence_nr} is_legacy={self.is_legacy}>"
        )


_SUMS = (
    "cpu_time_total",
    "device_time_total",
    "self_cpu_time_total",
    "self_device_time_total",
    "cpu_memory_usage",
    "device_memory_usage",
    "self_cpu_memory_usage",
    "self_device_memory_usage",
    "count",
)
_FIRST = ("node_id", "is_async", "is_remote", "cpu_parent", "cpu_children", "overload_name", "input_shapes", "stack", "scope")


class FunctionEventAvg(FormattedTimesMixin):
    """Events of one name together."""

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = self.node_id = 0
        self.is_async = self.is_remote = self.is_legacy = self.is_user_annotation = False
        self.use_device: str | None = None
        self.cpu_time_total: float = 0
        self.device_time_total: float = 0
        self.self_cpu_time_total: float = 0
        self.self_device_time_total: float = 0
        self.input_shapes: Any = None
        self.overload_name: str | None = None
        self.stack: list[str] | None = None
        self.scope: int | None = None
        self.cpu_memory_usage = self.device_memory_usage = self.self_cpu_memory_usage = self.self_device_memory_usage = 0
        self.cpu_children: list[FunctionEvent] | None = None
        self.cpu_parent: FunctionEvent | None = None
        self.device_type = DeviceType.CPU
        self.flops = 0

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Takes one more event, or the average of others, of the same name."""
        if self.key is None:
            self.key = other.key
            for name in (*_FIRST, "device_type", "is_legacy", "use_device", "is_user_annotation"):
                setattr(self, name, getattr(other, name))
        elif self.key != other.key:
            raise AssertionError(f"Event keys should be the same: {self.key} and {other.key}")
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.flops += other.flops or 0
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        device = self.use_device or "cuda"
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} cpu_time={self.cpu_time_str} "
            f" self_{device}_time={self.self_device_time_total_str} {device}_time={self.device_time_str} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} {device}_memory_usage={self.device_memory_usage}>"
        )


class EventList(list[Any]):
    """Events in the order in which they began, or averages of them."""

    def __init__(
        self, events: Iterable[Any] = (), *, use_device: str | None = None, profile_memory: bool = False, with_flops: bool = False
    ) -> None:
        super().__init__(events)
        self._use_device, self._profile_memory, self._with_flops = use_device, profile_memory, with_flops

    def __str__(self) -> str:
        return self.table()

    @property
    def self_cpu_time_total(self) -> float:
        return sum(event.self_cpu_time_total for event in self)

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The events as text: `sort_by` names an attribute, as cpu_time_total; `row_limit` -1 shows them all."""
        if not self:
            return ""
        events: list[Any] = list(self)
        if sort_by is not None:
            events.sort(key=attrgetter(sort_by.replace("cuda", "device")), reverse=True)
        columns = _columns(self, events, max_name_column_width, max_shapes_column_width, max_src_column_width, time_unit)
        return _print(self, events, columns, row_limit, header, top_level_events_only, time_unit)

    def _repr_html_(self) -> str:
        """For notebooks: the same columns and rows as a table of the page, longest first."""
        from retrograd import _pages

        events = sorted(self, key=attrgetter("self_cpu_time_total"), reverse=True)
        columns = [c for c in _columns(self, events, -1, -1, -1, None) if c.text is not None] if events else []
        rows = [[c.text(event) for c in columns] for event in events[:100]]
        more = f"<div>and {len(events) - 100:,} more</div>" if len(events) > 100 else ""
        return _pages.table([c.title for c in columns], rows) + more

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """One entry for all events of a name, and of the same input shapes or innermost lines of the program where that is asked for."""
        groups: dict[tuple[Any, ...], FunctionEventAvg] = {}
        for event in self:
            key: tuple[Any, ...] = (event.key, event.node_id, event.device_type, event.is_legacy, event.is_user_annotation)
            if group_by_overload_name:
                key += (event.overload_name,)
            if group_by_input_shapes:
                key += (str(event.input_shapes),)
            if group_by_stack_n:
                key += tuple((event.stack or [])[:group_by_stack_n])
            groups.setdefault(key, FunctionEventAvg()).add(event)
        averages = EventList(groups.values(), use_device=self._use_device, profile_memory=self._profile_memory, with_flops=self._with_flops)
        for average in averages:
            average.stack = (average.stack or [])[:group_by_stack_n]
            average.input_shapes = average.input_shapes if group_by_input_shapes else ""
            average.overload_name = average.overload_name if group_by_overload_name else ""
        return averages

    def total_average(self) -> FunctionEventAvg:
        """All events in one."""
        total = FunctionEventAvg()
        for event in self:
            total += event
            total.key = None
        total.key = "Total"
        return total

    def export_chrome_trace(self, path: str) -> None:
        """Writes the events as a trace that chrome://tracing and Perfetto show."""
        from retrograd.profiler import _trace

        _trace.write(path, {"traceEvents": _trace.complete_events(self)})

    def supported_export_stacks_metrics(self) -> list[str]:
        return [f"self_{device}_time_total" for device in ("cpu", "cuda", "xpu", "privateuse1")]

    def export_stacks(self, path: str, metric: str) -> None:
        """Writes the stacks of the program, a line each with its time in whole microseconds: what flame graphs are drawn from."""
        if metric not in self.supported_export_stacks_metrics():
            raise ValueError(f"metric should be one of: {self.supported_export_stacks_metrics()}")
        from retrograd._files import write_text

        spaces = str.maketrans(" ;\t\n", "____")
        lines = []
        for event in self:
            value = int(getattr(event, metric.replace("cuda", "device").replace("xpu", "device").replace("privateuse1", "device")))
            if event.stack and value > 0:
                lines.append(";".join(entry.translate(spaces) for entry in reversed(event.stack)) + f" {value}\n")
        write_text(path, "".join(lines))


# -- tables ---------------------------------------------------------------------

_WIDTH = 12
_GAP = "  "


class _Column(NamedTuple):
    title: str
    width: int
    text: Any  # of an event
    left: bool = False


def _cut_name(text: str, limit: int) -> str:
    return text if limit < 0 or len(text) < limit - 3 else text[: max(0, limit - 3)] + "..."


def _cut_start(text: str, width: int) -> str:
    return text if width < 0 or len(text) <= width else "..." + text[3 - width :]


def _fitting(texts: Iterable[str], limit: int, least: int = 0) -> int:
    width = max((max(len(text) for text in texts)) + 4, least)
    return width if limit < 0 else min(width, limit)


def _flops_unit(events: list[Any]) -> tuple[str, float] | None:
    counts = [event.flops for event in events if event.flops]
    if not counts:
        return None
    power = min((len(str(int(min(counts)))) - 1) // 3, 5)
    return ("", "K", "M", "G", "T", "P")[power] + "FLOPs", 1000.0**power


def _columns(whole: EventList, events: list[Any], name_limit: int, shapes_limit: int, stack_limit: int, unit: str | None) -> list[_Column]:
    total = sum(event.self_cpu_time_total for event in events)
    name_width = _fitting((event.key for event in events), name_limit)

    def share(part: str) -> Any:
        return lambda event: "0.00%" if event.is_async else _format_time_share(getattr(event, part), total)

    def time(part: str) -> Any:
        return lambda event: _format_time(getattr(event, part), unit)

    columns = [_Column("Name", name_width, lambda event: _cut_name(event.key, name_limit))]
    if any(event.overload_name for event in events):
        columns.append(_Column("Overload Name", name_width, lambda event: _cut_name(event.overload_name or "", name_limit)))
    columns += [
        _Column("Self CPU %", _WIDTH, share("self_cpu_time_total")),
        _Column("Self CPU", _WIDTH, time("self_cpu_time_total")),
        _Column("CPU total %", _WIDTH, share("cpu_time_total")),
        _Column("CPU total", _WIDTH, time("cpu_time_total")),
        _Column("CPU time avg", _WIDTH, time("cpu_time")),
    ]
    if whole._profile_memory:
        columns.append(_Column("CPU Mem", _WIDTH, lambda event: _format_memory(event.cpu_memory_usage)))
        columns.append(_Column("Self CPU Mem", _WIDTH, lambda event: _format_memory(event.self_cpu_memory_usage)))
    columns.append(_Column("# of Calls", _WIDTH, lambda event: str(event.count)))
    if any(event.node_id != -1 for event in events):
        columns.append(_Column("Node ID", _WIDTH, lambda event: str(event.node_id)))
    shapes = [str(event.input_shapes) for event in events if event.input_shapes]
    if shapes:
        width = _fitting(shapes, shapes_limit, _WIDTH)
        columns.append(_Column("Input Shapes", width, lambda event: str(event.input_shapes)[:width]))
    if stack_of := [entry for event in events if event.stack for entry in event.stack]:
        columns.append(_Column("Source Location", _fitting(stack_of, stack_limit), None, left=True))
    if whole._with_flops and (scale := _flops_unit(events)):
        name, size = scale
        columns.append(_Column(f"Total {name}", _WIDTH, lambda event: f"{event.flops / size:8.3f}" if event.flops else "--"))
    return columns


def _line(columns: list[_Column], texts: list[str]) -> str:
    cells = [text.ljust(c.width) if c.left else text.rjust(c.width) for c, text in zip(columns, texts, strict=True)]
    return "".join(cell + _GAP for cell in cells)


def _print(
    whole: EventList, events: list[Any], columns: list[_Column], limit: int, header: str | None, top_level_only: bool, unit: str | None
) -> str:
    rule = _line(columns, ["-" * c.width for c in columns])
    bar = "=" * (len(rule) - len(_GAP))
    out = [] if header is None else [bar, header]
    if top_level_only:
        out += [bar, "This report only display top-level ops statistics"]
    out += [rule, _line(columns, [c.title for c in columns]), rule]
    rows = 0
    for event in events:
        if rows == limit:
            break
        if top_level_only and event.cpu_parent is not None:
            continue
        rows += 1
        source = next((c.width for c in columns if c.text is None), None)
        stack = [_cut_start(entry, source) for entry in event.stack] if source and event.stack else []
        out.append(_line(columns, [c.text(event) if c.text else (stack or [""])[0] for c in columns]))
        if source:  # the rest of its stack below it, and a line to set it off
            out += [_line(columns, [entry if c.text is None else "" for c in columns]) for entry in [*stack[1:], ""]]
    total = sum(event.self_cpu_time_total for event in events)
    out += [rule, f"Self CPU time total: {_format_time(total, unit)}", ""]
    return "\n".join(out)
