"""Traces that chrome://tracing and Perfetto show: the JSON that PyTorch's profiler writes."""

from __future__ import annotations

import gzip
import json
import os
import socket
import uuid
from collections.abc import Iterable
from typing import Any

from retrograd._files import write_all
from retrograd.autograd.profiler_util import MEMORY_EVENT_NAME


def write(path: str | os.PathLike[str], trace: dict[str, Any]) -> None:
    """Writes a trace, packed where the name ends in .gz."""
    data = json.dumps({**trace, "traceName": os.fspath(path)}).encode()
    write_all([(path, gzip.compress(data) if os.fspath(path).endswith(".gz") else data)])


# -- events ---------------------------------------------------------------------

_TYPES = {
    "float32": "float",
    "float64": "double",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "int64": "long int",
    "int32": "int",
    "int16": "short int",
    "int8": "signed char",
    "uint8": "unsigned char",
    "bool": "bool",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}


def type_name(dtype: Any) -> str:
    """A dtype as traces name it."""
    name = str(dtype).removeprefix("torch.")
    return _TYPES.get(name, name)


def _arguments(event: Any, index: int) -> dict[str, Any]:
    found: dict[str, Any] = {"External id": event.id}
    if event.sequence_nr >= 0:
        found |= {"Sequence number": event.sequence_nr, "Fwd thread id": event.fwd_thread or 0}
    found["Record function id"] = 0
    if event.input_dtypes is not None:
        found |= {
            "Concrete Inputs": ["" if value is None else str(value) for value in event.concrete_inputs or []],
            "Input type": event.input_dtypes,
            "Input Strides": event.structured_input_strides,
            "Input Dims": event.input_shapes,
        }
    if event.stack:
        found["Call stack"] = ";".join(event.stack)
    if event.flops:
        found["flops"] = event.flops
    return found | {"Ev Idx": index}


def complete_events(events: Iterable[Any], base: float = 0.0, ids: dict[int, int] | None = None) -> list[dict[str, Any]]:
    """The events with a duration. `base` is what their times count from, `ids` the system's numbers of their threads."""
    pid, made = os.getpid(), []
    for index, event in enumerate(events):
        if event.name == MEMORY_EVENT_NAME:
            continue
        kind = "python_function" if event.is_python_function else "user_annotation" if event.is_user_annotation else "cpu_op"
        tid = (ids or {}).get(event.thread, event.thread)
        span = {"ts": round(base + event.time_range.start, 3), "dur": round(event.time_range.elapsed_us(), 3)}
        made.append({"ph": "X", "cat": kind, "name": event.trace_name, "pid": pid, "tid": tid, **span, "args": _arguments(event, index)})
    return made


def _flows(events: Iterable[Any], base: float, ids: dict[int, int]) -> list[dict[str, Any]]:
    """Arrows from ops of the forward pass to the nodes that they left."""
    pid, made = os.getpid(), []
    forward: dict[tuple[int, int], Any] = {}
    number = 0
    for event in events:
        if event.sequence_nr < 0 or event.is_user_annotation or event.is_python_function:
            continue
        if not event.fwd_thread:
            forward[event.thread, event.sequence_nr] = event  # the last to begin: what it is part of has the same number
            continue
        # The outer of the two events of a node.
        origin = forward.pop((event.fwd_thread, event.sequence_nr), None)
        if origin is None:
            continue
        number += 1
        shared = {"id": number, "pid": pid, "cat": "fwdbwd", "name": "fwdbwd"}
        made.append({"ph": "s", **shared, "tid": ids[origin.thread], "ts": round(base + origin.time_range.start, 3)})
        made.append({"ph": "f", **shared, "tid": ids[event.thread], "ts": round(base + event.time_range.start, 3), "bp": "e"})
    return made


def _memory(levels: Iterable[tuple[int, float, int]], base: float, ids: dict[int, int]) -> list[dict[str, Any]]:
    """What tensors held, wherever that changed: (thread, time, bytes)."""
    pid, made, last = os.getpid(), [], None
    for thread, time, allocated in levels:
        if allocated != last:
            arguments = {
                "Total Reserved": 0,
                "Total Allocated": allocated,
                "Bytes": allocated - (last or 0),
                "Device Id": -1,
                "Device Type": 0,
            }
            instant = {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": MEMORY_EVENT_NAME, "pid": pid, "tid": ids[thread]}
            made.append({**instant, "ts": round(base + time, 3), "args": arguments})
        last = allocated
    return made


def _metadata(ids: dict[int, int], base: float) -> list[dict[str, Any]]:
    pid = os.getpid()
    rows: list[tuple[str, int, dict[str, Any]]] = [
        ("process_name", 0, {"name": "python"}),
        ("process_labels", 0, {"labels": "CPU"}),
        ("process_sort_index", 0, {"sort_index": pid}),
    ]
    for tid in dict.fromkeys(ids.values()):
        rows += [("thread_name", tid, {"name": f"thread {tid} (python)"}), ("thread_sort_index", tid, {"sort_index": tid})]
    return [{"ph": "M", "name": name, "ts": base, "pid": pid, "tid": tid, "args": args} for name, tid, args in rows]


def trace_of(recording: Any, events: Any, metadata: dict[str, str], options: dict[str, bool]) -> dict[str, Any]:
    """The whole trace of a recording. `metadata` is JSON by name."""
    base_ns = recording.wall_ns // 1_000_000_000 * 1_000_000_000
    base, ids = (recording.wall_ns - base_ns) / 1000, recording.thread_ids
    rows = _metadata(ids, base) + complete_events(events, base, ids) + _flows(events, base, ids)
    if options.get("profile_memory"):
        rows += _memory(recording.memory_levels(), base, ids)
    rows.append({"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ts": base})
    rows[-1] |= {"dur": round(recording.duration_us, 3), "args": {"Op count": 0}}
    rows.append({"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": round(base + recording.duration_us, 3)})
    return {
        "schemaVersion": 1,
        "deviceProperties": [],
        "trace_id": uuid.uuid4().hex.upper(),
        **{name: 1 for name, on in options.items() if on},
        **{name: json.loads(value) for name, value in metadata.items()},
        "host_name": socket.gethostname(),
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": base_ns,
        "traceEvents": rows,
    }
