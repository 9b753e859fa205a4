"""Signal processing: windows."""

from retrograd.signal import windows

__all__ = ["windows"]
