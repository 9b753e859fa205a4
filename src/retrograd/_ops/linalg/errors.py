"""What a matrix that a computation cannot go on with is answered with."""

from __future__ import annotations

from retrograd import Tensor
from retrograd._batched import any_true, whole


class LinAlgError(RuntimeError):
    """A matrix that a computation cannot go on with: singular, not positive definite, not converging."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"
LinAlgError.__module__ = __name__.partition(".")[0] + ".linalg"  # where pickle looks


def check_info(op: str, info: Tensor, words: str) -> None:
    """Raises for the first matrix of a batch with a nonzero verdict; {k} in `words` stands for it."""
    if not any_true(info):
        return
    info = whole(info)
    if info.dim() == 0:
        raise LinAlgError(f"{op}: {words.format(k=int(info))}")
    first = int(info.reshape(-1).ne(0).nonzero()[0])
    raise LinAlgError(f"{op}: (Batch element {first}): {words.format(k=int(info.reshape(-1)[first]))}")
