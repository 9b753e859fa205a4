"""retrograd: PyTorch's autograd built again, small and fast.

`import retrograd as torch` runs autograd code written for PyTorch. Heavy parts (nn, optim, testing, ...) are imported when first used.
"""

from __future__ import annotations

import importlib
import math as _math
import os as _os
from typing import Any

from retrograd import _C
from retrograd.version import __version__

_package_dir = _os.path.dirname(_os.path.abspath(__file__)) + _os.sep
_C._set_paths(_package_dir, _os.path.join(_package_dir, ".libs", "libscipy_openblas.so"))

from retrograd._C import (  # noqa: E402
    Generator,
    Size,
    Tensor,
    can_cast,
    default_generator,
    device,
    dtype,
    get_default_dtype,
    get_num_threads,
    is_grad_enabled,
    is_inference_mode_enabled,
    promote_types,
    result_type,
    set_default_dtype,
    set_num_threads,
)

inf, nan, pi, e = _math.inf, _math.nan, _math.pi, _math.e
newaxis = None

for _name in (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128", "cfloat", "cdouble", "float", "double", "half", "long",
    "int", "short", "strided", "contiguous_format", "preserve_format", "channels_last", "channels_last_3d", "memory_format", "layout",
    "sparse_coo",
):  # fmt: skip
    if hasattr(_C, _name):
        globals()[_name] = getattr(_C, _name)

# The functions of the op table, then the ones written in Python.
globals().update({name: f for name, f in vars(_C._ops).items() if not name.startswith("__")})

from retrograd import _tensor  # noqa: E402

_tensor.install()

from retrograd._ops import install as _install_python_ops  # noqa: E402

_install_python_ops(globals())

from retrograd._creation import as_tensor, asarray, from_dlpack, from_numpy, frombuffer, tensor  # noqa: E402
from retrograd._functions import *  # noqa: E402, F403
from retrograd._types import *  # noqa: E402, F403
from retrograd.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled  # noqa: E402
from retrograd.random import get_rng_state, initial_seed, manual_seed, seed, set_rng_state  # noqa: E402

from retrograd import autograd  # noqa: E402  isort: skip

_LAZY = {
    "finfo": "retrograd._info",
    "iinfo": "retrograd._info",
    "memory_summary": "retrograd._memory",
    "set_printoptions": "retrograd._tensor_str",
    "load": "retrograd.serialization",
    "vmap": "retrograd.func",
    "save": "retrograd.serialization",
    "UntypedStorage": "retrograd.storage",
    "TypedStorage": "retrograd.storage",
    **{
        f"{kind}Storage": "retrograd.storage"
        for kind in ("Bool", "Byte", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double", "ComplexFloat", "ComplexDouble")
    },
    "is_storage": "retrograd.storage",
    "is_anomaly_enabled": "retrograd.autograd.anomaly_mode",
    "set_anomaly_enabled": "retrograd.autograd.anomaly_mode",
    "is_anomaly_check_nan_enabled": "retrograd.autograd.anomaly_mode",
}
_MODULES = {
    "nn",
    "ops",
    "optim",
    "testing",
    "linalg",
    "utils",
    "overrides",
    "random",
    "func",
    "cuda",
    "amp",
    "compile",
    "doctor",
    "profiler",
    "distributed",
    "cli",
    "serialization",
    "backends",
    "return_types",
    "special",
    "storage",
    "version",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = getattr(importlib.import_module(_LAZY[name]), name)
    elif name in _MODULES:
        try:
            value = importlib.import_module(f"retrograd.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"retrograd.{name}":
                raise
            raise AttributeError(f"retrograd has no module {name!r} yet") from None
    else:
        raise AttributeError(f"module 'retrograd' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_LAZY) | _MODULES)
