"""torch.utils.benchmark: times of statements, measured alike and compared in a table."""

from __future__ import annotations

from retrograd.utils.benchmark.callgrind import CopyIfCallgrind, FunctionCount, FunctionCounts
from retrograd.utils.benchmark.compare import Colorize, Compare
from retrograd.utils.benchmark.fuzzer import FuzzedParameter, FuzzedSparseTensor, FuzzedTensor, Fuzzer, ParameterAlias
from retrograd.utils.benchmark.measurement import Measurement, TaskSpec, ordered_unique, select_unit, trim_sigfig, unit_to_english
from retrograd.utils.benchmark.timer import CallgrindStats, Language, Timer, set_torch_threads, timer

__all__ = [
    "CallgrindStats", "Colorize", "Compare", "CopyIfCallgrind", "FunctionCount", "FunctionCounts", "FuzzedParameter", "FuzzedSparseTensor", "FuzzedTensor", "Fuzzer",
    "Language", "Measurement", "ParameterAlias", "TaskSpec", "Timer", "ordered_unique", "select_unit", "set_torch_threads", "timer", "trim_sigfig", "unit_to_english",
]  # fmt: skip
