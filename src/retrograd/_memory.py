"""memory_summary: the allocator's counters for people."""

from __future__ import annotations

from typing import Any

from retrograd import _C

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


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
