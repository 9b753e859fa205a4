"""torch.profiler: what runs, for how long, with what memory; schedules, tables and traces. docs/profiler.md shows how it is used."""

from __future__ import annotations

from retrograd.autograd.profiler import KinetoStepTracker, kineto_available, record_function
from retrograd.autograd.profiler_util import DeviceType

from . import itt
from .profiler import (
    ExecutionTraceObserver,
    ProfilerAction,
    ProfilerActivity,
    RecordScope,
    _ExperimentalConfig as _ExperimentalConfig,
    _KinetoProfile as _KinetoProfile,
    profile,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

__all__ = [
    "DeviceType",
    "ExecutionTraceObserver",
    "KinetoStepTracker",
    "ProfilerAction",
    "ProfilerActivity",
    "RecordScope",
    "itt",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]
