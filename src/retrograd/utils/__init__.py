"""Tools around the engine."""

import importlib as _importlib
import typing as _typing

if _typing.TYPE_CHECKING:
    from retrograd.utils import (
        benchmark as benchmark,
        checkpoint as checkpoint,
        cpp_extension as cpp_extension,
        data as data,
        dlpack as dlpack,
        flop_counter as flop_counter,
        hooks as hooks,
    )
    from retrograd.utils._swap import swap_tensors as swap_tensors
else:  # imported when first used
    _MODULES = ("benchmark", "checkpoint", "cpp_extension", "data", "dlpack", "flop_counter", "hooks")

    def __getattr__(name):
        if name in _MODULES:
            return _importlib.import_module(f"retrograd.utils.{name}")
        if name == "swap_tensors":
            return _importlib.import_module("retrograd.utils._swap").swap_tensors
        from retrograd._missing import missing

        raise missing(__name__, name)

    def __dir__():
        return sorted({*globals(), *_MODULES, "swap_tensors"})
