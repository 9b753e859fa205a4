"""The CPU allocator: what it counts, also as a table to print, and what it keeps."""

from __future__ import annotations

from typing import Any

from retrograd import _C

__all__ = [
    "cache_limit", "empty_cache", "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats", "memory_summary", "reset_peak_memory_stats", "set_cache_limit",
]  # fmt: skip

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def memory_stats(device: Any = None) -> dict[str, int]:
    """Counters of the CPU allocator, in bytes and blocks; exact for the memory of tensors."""
    return _C._memory_stats()


def memory_allocated(device: Any = None) -> int:
    """Bytes held by live tensors."""
    return _C._memory_stats()["allocated"]


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes live tensors held since the start or the last reset_peak_memory_stats()."""
    return _C._memory_stats()["peak_allocated"]


def memory_reserved(device: Any = None) -> int:
    """Bytes the allocator has taken from the system: what tensors hold, and what it keeps for later."""
    return _C._memory_stats()["reserved"]


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes the allocator had taken since the start or the last reset_peak_memory_stats()."""
    return _C._memory_stats()["peak_reserved"]


def reset_peak_memory_stats(device: Any = None) -> None:
    """Starts max_memory_allocated() and max_memory_reserved() again from what there is now."""
    _C._reset_peak_memory_stats()


def empty_cache() -> None:
    """Gives all memory that no tensor uses back to the system, at once. What is not used for some seconds goes back by itself."""
    _C._empty_cache()


def set_cache_limit(bytes: int | None) -> None:
    """How many bytes of freed memory the allocator keeps for later at most: 0 for none, None for the default.

    The default is half of what the process may use; the environment variable RETROGRAD_CACHE_LIMIT sets another.
    """
    _C._set_cache_limit(bytes)


def cache_limit() -> int:
    """How many bytes of freed memory the allocator keeps for later at most."""
    return _C._cache_limit()


def _readable(count: int) -> str:
    """1536 -> '1.50 KiB'."""
    value, unit = float(count), 0
    while abs(value) >= 1024 and unit + 1 < len(_UNITS):
        value, unit = value / 1024, unit + 1
    return f"{count} B" if unit == 0 else f"{value:.2f} {_UNITS[unit]}"


def _row(name: str, *cells: int | str) -> str:
    return f"  {name:<18}" + "".join(f"{cell:>20,}" if isinstance(cell, int) else f"{cell:>20}" for cell in cells).rstrip()


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """A table of what the CPU allocator counts, to print.

    Args:
        device: accepted for PyTorch's sake; there is one allocator.
        abbreviated: leaves out what the allocator keeps for itself and the counts of objects.

    Example:
        >>> import retrograd as torch
        >>> x = torch.ones(1024)
        >>> print(torch.memory_summary().splitlines()[0])
        CPU memory, in bytes
    """
    stats = _C._memory_stats()
    lines = [
        "CPU memory, in bytes",
        _row("", "now", "peak", "in all", "given back"),
        _row("held by tensors", stats["allocated"], stats["peak_allocated"], stats["total_allocated"], stats["total_freed"]),
    ]
    if not abbreviated:
        tensors, nodes = _C._live_objects()
        blocks = stats["live_blocks"], "", stats["total_blocks"], stats["total_blocks"] - stats["live_blocks"]
        lines += [
            _row("from the system", stats["reserved"], stats["peak_reserved"]),
            _row("kept for later", stats["cached"]),
            "",
            "Objects",
            _row("storages", *blocks),
            _row("tensors", tensors),
            _row("graph nodes", nodes),
        ]
    held, peak, reserved = (_readable(stats[key]) for key in ("allocated", "peak_allocated", "reserved"))
    lines += ["", f"Tensors hold {held}, at most {peak} so far; {reserved} are taken from the system."]
    return "\n".join(lines) + "\n"
