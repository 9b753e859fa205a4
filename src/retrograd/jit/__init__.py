"""torch.jit: programs written for TorchScript run as the Python they are.

`script` and `trace` give objects of the classes that programs test for, which compute what the module or function computes. There is no
TorchScript: what shows its code or graph says so.
"""

from typing import Final as Final

from retrograd.futures import Future as Future
from retrograd.jit._script import (
    Attribute,
    CompilationUnit,
    Error,
    RecursiveScriptModule as RecursiveScriptModule,
    ScriptFunction as ScriptFunction,
    ScriptModule as ScriptModule,
    ScriptWarning as ScriptWarning,
    _overload as _overload,
    _overload_method as _overload_method,
    annotate,
    export,
    ignore,
    interface,
    is_scripting as is_scripting,
    isinstance,
    script,
    script_method as script_method,
    unused,
)
from retrograd.jit._serialization import load, save
from retrograd.jit._settings import (
    enable_onednn_fusion,
    export_opnames,
    fork,
    freeze,
    fuser as fuser,
    onednn_fusion_enabled,
    optimize_for_inference,
    optimized_execution as optimized_execution,
    run_frozen_optimizations as run_frozen_optimizations,
    set_fusion_strategy,
    set_module as set_module,
    strict_fusion,
    wait,
)
from retrograd.jit._trace import (
    TopLevelTracedModule as TopLevelTracedModule,
    TracedModule as TracedModule,
    TracerWarning as TracerWarning,
    TracingCheckError as TracingCheckError,
    is_tracing as is_tracing,
    script_if_tracing,
    trace,
    trace_module,
)

_fork, _wait = fork, wait

__all__ = [
    "Attribute",
    "CompilationUnit",
    "Error",
    "Future",
    "annotate",
    "enable_onednn_fusion",
    "export",
    "export_opnames",
    "fork",
    "freeze",
    "ignore",
    "interface",
    "isinstance",
    "load",
    "onednn_fusion_enabled",
    "optimize_for_inference",
    "save",
    "script",
    "script_if_tracing",
    "set_fusion_strategy",
    "strict_fusion",
    "trace",
    "trace_module",
    "unused",
    "wait",
]
