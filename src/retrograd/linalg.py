"""torch.linalg: linear algebra over LAPACK, with derivatives. The functions are in retrograd/_ops/linalg/."""

from __future__ import annotations

import retrograd as torch
from retrograd._ops.linalg.decompose import eig, eigh, eigvals, eigvalsh, householder_product, qr, svd, svdvals
from retrograd._ops.linalg.errors import LinAlgError
from retrograd._ops.linalg.norms import cond, matrix_norm, norm, vector_norm
from retrograd._ops.linalg.products import cross, diagonal, matrix_exp, multi_dot, vander, vecdot
from retrograd._ops.linalg.rank import lstsq, matrix_rank, pinv
from retrograd._ops.linalg.systems import (
    cholesky,
    cholesky_ex,
    det,
    inv,
    inv_ex,
    ldl_factor,
    ldl_factor_ex,
    ldl_solve,
    lu,
    lu_factor,
    lu_factor_ex,
    lu_solve,
    slogdet,
    solve,
    solve_ex,
    solve_triangular,
    tensorinv,
    tensorsolve,
)
from retrograd._overridable import offer

__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh",
    "householder_product", "inv", "inv_ex", "ldl_factor", "ldl_factor_ex", "ldl_solve", "lstsq", "lu", "lu_factor", "lu_factor_ex",
    "lu_solve", "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet",
    "solve", "solve_ex", "solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve", "vander", "vecdot", "vector_norm",
]  # fmt: skip

matmul, matrix_power = torch.matmul, torch.matrix_power
_LinAlgError = LinAlgError  # its name in PyTorch, by which it is pickled
# How many arguments these hand straight to the op of their name.
_STRAIGHT = {
    "cholesky": 1, "cholesky_ex": 1, "cross": 2, "det": 1, "eig": 1, "eigh": 2, "eigvals": 1, "eigvalsh": 2, "inv": 1, "inv_ex": 1, "ldl_factor_ex": 1,
    "ldl_solve": 3, "lu": 1, "lu_factor": 1, "lu_factor_ex": 1, "pinv": 1, "qr": 2, "slogdet": 1, "solve": 2, "solve_ex": 2, "svd": 2, "svdvals": 1,
    "vector_norm": 4,
}  # fmt: skip
offer(globals(), _STRAIGHT, "linalg_")


def __dir__() -> list[str]:
    return __all__
