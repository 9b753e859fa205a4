"""torch.__config__: how the package was built, for people to read."""

from __future__ import annotations

import platform

from retrograd import _C
from retrograd.version import __version__

__all__ = ["parallel_info", "show"]


def show() -> str:
    """What this build is made of."""
    return (
        f"PyTorch built with:\n  - retrograd {__version__}\n  - C++ Version: 202002\n  - CPython {platform.python_version()}, {platform.machine()}\n"
        f"  - OpenBLAS, loaded when a large product needs it\n  - CPU capability usage: {_C._cpu_level()}\n"
    )


def parallel_info() -> str:
    """How many threads kernels use."""
    return f"ATen/Parallel:\n\tat::get_num_threads() : {_C.get_num_threads()}\nATen parallel backend: threads of the package's own\n"
