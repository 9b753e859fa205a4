"""Prints what a bug report needs: versions, machine, settings."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import platform

import retrograd
from retrograd.cli import refuse

_OPTIONAL = ("numpy", "torch", "safetensors", "tqdm", "matplotlib")


def _cpu() -> str:
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def facts() -> dict[str, str]:
    """What there is to tell, by name."""
    folder = pathlib.Path(retrograd.__file__).parent
    size = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file() and "__pycache__" not in f.parts)
    found = {
        "retrograd": retrograd.__version__,
        "installed in": f"{folder} ({size / 1e6:.1f} MB)",
        "Python": f"{platform.python_version()} ({platform.python_implementation()})",
        "platform": platform.platform(),
        "CPU": f"{_cpu()}, {os.cpu_count()} logical cores",
    }
    for label, name in (("CPU level", "_cpu_level"), ("OpenBLAS", "_blas_info")):
        if ask := getattr(retrograd._C, name, None):
            found[label] = str(ask())
    found["threads"] = str(retrograd.get_num_threads())
    found |= {name: _version(name) for name in _OPTIONAL}
    found |= {name: value for name, value in sorted(os.environ.items()) if name.startswith("RETROGRAD_")}
    return found


def main(arguments: list[str]) -> int:
    if arguments and arguments[0] in ("-h", "--help"):
        print(f"usage: retrograd env\n\n{__doc__}")
        return 0
    if arguments:
        return refuse("env", f"takes no arguments, got {arguments[0]!r}")
    table = facts()
    width = max(map(len, table))
    print("\n".join(f"{name:<{width}}  {value}" for name, value in table.items()))
    return 0
