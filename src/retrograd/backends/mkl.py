"""torch.backends.mkl: Intel's library, which is not used."""

from __future__ import annotations

__all__ = ["VERBOSE_OFF", "VERBOSE_ON", "is_available", "verbose"]

VERBOSE_OFF, VERBOSE_ON = 0, 1


def is_available() -> bool:
    """Whether it is used."""
    return False


class verbose:
    """Would print what the library computes in a block."""

    def __init__(self, enable: int) -> None:
        self.enable = enable

    def __enter__(self) -> verbose:
        if self.enable != VERBOSE_OFF:
            raise AssertionError(
                "Failed to set MKL into verbose mode. Please consider to disable this verbose scope: MKL is not used here."
            )
        return self

    def __exit__(self, *error: object) -> None:
        pass
