"""What a matrix that a computation cannot go on with is answered with."""

from __future__ import annotations

from retrograd import Tensor
from retrograd._batched import any_true, whole


class LinAlgError(RuntimeError):
    """A matrix that a computation cannot go on with: singular, not positive definite, not converging."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"
LinAlgError.__module__ = __name__.partition(".")[0] + ".linalg"  # where pickle looks

# What a verdict of LAPACK means; {k} stands for it.
SINGULAR = "The solver failed because the input matrix is singular."
NO_INVERSE = "The diagonal element {k} is zero, the inversion could not be completed because the input matrix is singular."
NOT_DEFINITE = (
    "The factorization could not be completed because the input is not positive-definite (its leading minor of order {k} is not positive)."
)
ZERO_PIVOT = (
    "U[{k},{k}] is zero and using it on lu_solve would result in a division by zero. linalg.lu(A, pivot) and linalg.lu_factor_ex(A, pivot) "
    "return the factors all the same."
)
ZERO_BLOCK = "The factorization could not be completed: the block of D at {k} is zero, and solving with it would divide by zero."

# By the name of an op in C++, which asks for its words when it has to refuse (check_verdicts in csrc/ops/linalg/lapack.h).
WORDS = {"linalg.cholesky": NOT_DEFINITE, "linalg.inv": NO_INVERSE, "torch.linalg.lu_factor": ZERO_PIVOT, "torch.linalg.solve": SINGULAR}


def refuse(op: str, info: Tensor) -> None:
    check_info(op, info, WORDS[op])


def check_info(op: str, info: Tensor, words: str) -> None:
    """Raises for the first matrix of a batch with a nonzero verdict; {k} in `words` stands for it."""
    if not any_true(info):
        return
    info = whole(info)
    if info.dim() == 0:
        raise LinAlgError(f"{op}: {words.format(k=int(info))}")
    first = int(info.reshape(-1).ne(0).nonzero()[0])
    raise LinAlgError(f"{op}: (Batch element {first}): {words.format(k=int(info.reshape(-1)[first]))}")
