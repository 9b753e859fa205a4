"""torch.utils.cpp_extension: extensions compiled against PyTorch's C++ interface cannot be used here. Importing it is fine; compiling says so."""

from __future__ import annotations

import os
from typing import Any, NoReturn

__all__ = [
    "BuildExtension", "CUDAExtension", "CppExtension", "SyclExtension", "check_compiler_is_gcc", "check_compiler_ok_for_platform",
    "get_cxx_compiler", "get_default_build_root", "include_paths", "is_ninja_available", "library_paths", "load", "load_inline", "verify_ninja_availability",
]  # fmt: skip

CUDA_HOME = ROCM_HOME = SYCL_HOME = None
IS_HIP_EXTENSION = False


def _refuse(what: str) -> NoReturn:
    raise RuntimeError(
        f"torch.utils.cpp_extension.{what}: extensions are compiled against PyTorch's C++ interface (ATen), which retrograd does not have. Use "
        "the extension's pure Python path, or define the op with torch.library.custom_op."
    )


class BuildExtension:
    """Builds extensions: not here."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("BuildExtension")

    @classmethod
    def with_options(cls, **options: Any) -> NoReturn:
        """Builds extensions: not here."""
        _refuse("BuildExtension")


def CppExtension(name: str, sources: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """An extension in C++: not here."""
    _refuse("CppExtension")


def CUDAExtension(name: str, sources: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """An extension in CUDA: not here."""
    _refuse("CUDAExtension")


def SyclExtension(name: str, sources: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """An extension in SYCL: not here."""
    _refuse("SyclExtension")


def load(name: str, sources: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Compiles and loads an extension: not here."""
    _refuse("load")


def load_inline(name: str, cpp_sources: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Compiles and loads an extension: not here."""
    _refuse("load_inline")


def include_paths(device_type: str = "cpu", torch_include_dirs: bool = True) -> NoReturn:
    """Where PyTorch's headers are: nowhere."""
    _refuse("include_paths")


def library_paths(device_type: str = "cpu", torch_include_dirs: bool = True, cross_target_platform: Any = None) -> NoReturn:
    """Where PyTorch's libraries are: nowhere."""
    _refuse("library_paths")


def get_cxx_compiler() -> str:
    """The C++ compiler by its name."""
    return os.environ.get("CXX", "c++")


def check_compiler_is_gcc(compiler: str) -> bool:
    """Whether a compiler's name says that it is GCC."""
    return os.path.basename(compiler).startswith(("g++", "gcc", "gnu-c++"))


def check_compiler_ok_for_platform(compiler: str) -> bool:
    """Whether a compiler can build extensions: none can."""
    return False


def get_default_build_root() -> str:
    """Where extensions would be built."""
    import tempfile

    return os.path.realpath(os.path.join(tempfile.gettempdir(), "torch_extensions"))


def is_ninja_available() -> bool:
    """Whether the ninja build system is there."""
    import shutil

    return shutil.which("ninja") is not None


def verify_ninja_availability() -> None:
    """Raises where ninja is not there."""
    if not is_ninja_available():
        raise RuntimeError("Ninja is required to load C++ extensions (pip install ninja to get it)")
