"""torch.lobpcg: a few of the largest or smallest eigenvalues of a large symmetric matrix, with derivatives of any order.

Each step looks for the best vectors within the span of the current ones, their preconditioned residuals and the directions of the step
before. What is found satisfies equations that define it, so the derivatives come from those and not from the iteration.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import retrograd as torch
from retrograd import Tensor

_TOLERANCE = {torch.float32: 1.2e-07, torch.float64: 2.23e-16}


def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Callable[[Any], None] | None = None,
    ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None,
    ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Tensor, Tensor]:
    """The k largest (or smallest) eigenvalues of symmetric A, or of A x = e B x, and their vectors.

    X holds first guesses, iK is a preconditioner: about the inverse of A. `tracker` is called with the state after each step.
    """
    _check(A, B, X, iK)
    settings = (k, n, niter, tol, largest, method, tracker, ortho_iparams, ortho_fparams, ortho_bparams)
    if any(isinstance(t, torch.Tensor) and t.requires_grad for t in (A, B)) and torch.is_grad_enabled():
        symmetric = None if B is None else (B + B.mT) / 2
        return _Differentiable.apply((A + A.mT) / 2, symmetric, X, iK, settings)
    return _solved(A, B, X, iK, *settings)


def _check(A: Any, B: Any, X: Any, iK: Any) -> None:
    if not isinstance(A, torch.Tensor):
        raise TypeError(f"lobpcg(): argument 'A' must be Tensor, not {type(A).__name__}")
    if A.dim() < 2:
        raise IndexError(f"tuple index out of range: lobpcg() expects A to be a matrix or a batch of them, got {A.dim()} dimensions")
    if A.size(-1) != A.size(-2):
        raise AssertionError(f"A must be square, got shape {A.shape}")
    if B is not None and B.shape != A.shape:
        raise AssertionError(f"A and B must have same shape, got {A.shape} vs {B.shape}")
    for name, t in (("B", B), ("X", X), ("iK", iK)):
        if t is not None and t.dtype != A.dtype:
            raise RuntimeError(f"expected A and {name} to have the same dtype, but got: {A.dtype} != {t.dtype}")


def _solved(
    A: Any, B: Any, X: Any, iK: Any, k: Any, n: Any, niter: Any, tol: Any, largest: Any, method: Any, tracker: Any, *ortho: Any
) -> tuple[Any, Any]:
    m = A.size(-1)
    k = (1 if X is None else X.size(-1)) if k is None else k
    n = (k if n is None else n) if X is None else X.size(-1)
    if m < 3 * n:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than 3 x the number of requested "
            f"eigenpairs (={n})"
        )
    if A.dtype not in _TOLERANCE:
        raise RuntimeError(f"lobpcg(): expected A to be float32 or float64, but got {A.dtype}")
    if not 0 < k <= m or n < 1:
        raise ValueError(f"lobpcg(): expected between 1 and {m} eigenpairs, but k={k}, n={n}")
    if X is not None and X.shape != (*A.shape[:-2], m, n):
        raise AssertionError(f"X shape mismatch: got {X.shape}, expected {(*A.shape[:-2], m, n)}")
    tol = _TOLERANCE[A.dtype] ** 0.5 if tol is None or tol <= 0 else tol
    parameters = {
        "iparams": {"m": m, "n": n, "k": k, "niter": 1000 if niter is None else niter} | (ortho[0] or {}),
        "fparams": {"tol": tol} | (ortho[1] or {}),
        "bparams": {"largest": largest is not False} | (ortho[2] or {}),
    }
    guesses = torch.randn((*A.shape[:-2], m, n), dtype=A.dtype, device=A.device) if X is None else X.detach()
    batch = A.shape[:-2]
    found = []
    each = [None if t is None else t.detach().expand(*batch, *t.shape[-2:]).reshape(-1, *t.shape[-2:]) for t in (A, B, guesses, iK)]
    for i in range(math.prod(batch)):
        a, b, guess, inverse = (None if t is None else t[i] for t in each)
        work = _Iteration(a, b, guess, inverse, method or "ortho", parameters, tracker)
        with torch.no_grad():
            work.run()
        found.append((work.E[:k], work.X[:, :k]))
    if not found:
        return A.new_empty((*batch, k)), A.new_empty((*batch, m, k))
    return (
        torch.stack([E for E, _ in found]).reshape(*batch, k),
        torch.stack([V for _, V in found]).reshape(*batch, m, k),
    )


class _Iteration:
    """The state of one problem, as a tracker sees it."""

    def __init__(self, A: Any, B: Any, X: Any, iK: Any, method: str, parameters: dict[str, dict[str, Any]], tracker: Any) -> None:
        self.A, self.B, self.iK, self.method, self.tracker = A, B, iK, method, tracker
        self.iparams, self.fparams, self.bparams = (dict(parameters[p]) for p in ("iparams", "fparams", "bparams"))
        self.ivars = {"istep": 0, "iterations_left": self.iparams["niter"], "converged_count": 0}
        length = float(X.norm())  # sizes of A and B as they act on these vectors: what residuals are compared with
        norms = {"A_norm": A, "B_norm": B}
        self.fvars = {name: 1.0 if t is None else float((t @ X).norm()) / length if length else 0.0 for name, t in norms.items()}
        self.bvars = {"force_stop": False}
        self.tvars: dict[str, Any] = {}
        self.X, self.E, self.R = X, X.new_zeros(X.size(1)), torch.zeros_like(X)
        self.S = X

    def _by_b(self, vectors: Any) -> Any:
        return vectors if self.B is None else self.B @ vectors

    def _orthonormal(self, vectors: Any) -> Any:
        """A basis of the span that is orthonormal with respect to B; directions that are in it already are left out.

        Twice: what the first pass leaves of nearly parallel vectors is mostly rounding.
        """
        for _ in range(2):
            length = (vectors * self._by_b(vectors)).sum(0).clamp(min=0).sqrt()
            vectors = vectors[:, length > 0] / length[length > 0]
            values, directions = torch.linalg.eigh(vectors.mT @ self._by_b(vectors))
            kept = values > values.amax().clamp(min=0) * torch.finfo(values.dtype).eps * 10 if values.numel() else values > 0
            vectors = vectors @ (directions[:, kept] / values[kept].sqrt())
        return vectors

    def _ritz(self, basis: Any) -> tuple[Any, Any]:
        """The n best eigenpairs within a basis."""
        values, vectors = torch.linalg.eigh(basis.mT @ self.A @ basis)
        if self.bparams["largest"]:
            values, vectors = values.flip(0), vectors.flip(1)
        return values, vectors

    def run(self) -> None:
        n = self.iparams["n"]
        if not all(t is None or t.isfinite().all() for t in (self.A, self.B, self.X)):
            raise torch.linalg.LinAlgError("linalg.eigh: The algorithm failed to converge because A, B or X holds inf or nan.")
        basis = self._orthonormal(self.X)
        if basis.size(1) < n:  # guesses that are parallel
            basis = self._orthonormal(torch.cat([basis, torch.randn(basis.size(0), n, dtype=basis.dtype, device=basis.device)], 1))[:, :n]
        values, vectors = self._ritz(basis)
        self.E, self.X = values[:n], basis @ vectors[:, :n]
        conjugate = self.X[:, :0]
        while True:
            self.R = self.A @ self.X - self._by_b(self.X) * self.E
            if self._stops():
                return
            left = self.ivars["converged_count"]
            residuals = self.R[:, left:] if self.iK is None else self.iK @ self.R[:, left:]
            residuals = residuals - self.X @ (self._by_b(self.X).mT @ residuals)
            self.S = torch.cat([self.X, self._orthonormal_to_x(torch.cat([residuals, conjugate], 1))], 1)
            values, vectors = self._ritz(self.S)
            before = self.X
            self.E, self.X = values[:n], self.S @ vectors[:, :n]
            conjugate = self.X - before @ (self._by_b(before).mT @ self.X)
            # Rounding turns the vectors out of B-orthogonality little by little.
            self.X = self._straightened(self.X)

    def _orthonormal_to_x(self, vectors: Any) -> Any:
        for _ in range(2):
            vectors = self._orthonormal(vectors - self.X @ (self._by_b(self.X).mT @ vectors))
        return vectors

    def _straightened(self, vectors: Any) -> Any:
        gram = vectors.mT @ self._by_b(vectors)
        return vectors @ (1.5 * torch.eye(gram.size(0), dtype=gram.dtype, device=gram.device) - 0.5 * gram)

    def _stops(self) -> bool:
        """Counts eigenpairs, from the first, whose residual is small beside what it is made of; calls the tracker."""
        scale = self.fvars["A_norm"] + self.E.abs() * self.fvars["B_norm"]
        self.tvars["rerr"] = self.R.norm(dim=0) / (self.X.norm(dim=0) * scale).clamp(min=torch.finfo(scale.dtype).tiny)
        small = (self.tvars["rerr"] < self.fparams["tol"]).tolist()
        self.ivars["converged_count"] = small.index(False) if False in small else len(small)
        if self.tracker is not None:
            self.tracker(self)
        if self.bvars["force_stop"] or self.ivars["iterations_left"] == 0 or self.ivars["converged_count"] >= self.iparams["k"]:
            return True
        self.ivars["istep"] += 1
        self.ivars["iterations_left"] -= 1
        return False


class _Differentiable(torch.autograd.Function):
    """The solution as a function of A and B, symmetric both. The backward is written in ops of the solution, so it has derivatives too."""

    @staticmethod
    def forward(ctx: Any, A: Any, B: Any, X: Any, iK: Any, settings: tuple[Any, ...]) -> tuple[Any, Any]:
        E, V = _solved(A, B, X, iK, *settings)
        ctx.has_b = B is not None
        ctx.save_for_backward(A, *(() if B is None else (B,)), E, V)
        return E, V

    @staticmethod
    def backward(ctx: Any, grad_E: Any, grad_V: Any) -> tuple[Any, ...]:
        A, *rest = ctx.saved_tensors
        B = rest[0] if ctx.has_b else None
        E, V = rest[-2:]
        by_b = V if B is None else B @ V
        # (A - e B) dv = -(dA - de B - e dB) v, with v^T B v = 1 for what is left open: v^T B dv = -v^T dB v / 2. Adding (B v)(B v)^T, which
        # is zero on the rest, makes the matrix regular as long as e is a simple eigenvalue. One matrix per eigenpair: [*, k, m, m].
        identity = torch.eye(A.size(-1), dtype=A.dtype, device=A.device) if B is None else B
        shifted = A.unsqueeze(-3) - E[..., None, None] * identity.unsqueeze(-3)
        columns = by_b.mT.unsqueeze(-1)
        wanted = grad_V - by_b * (V * grad_V).sum(-2, keepdim=True)  # the part that turns the vectors
        turned = torch.linalg.solve(shifted + columns @ columns.mT, wanted.mT.unsqueeze(-1)).squeeze(-1).mT
        weights = V * grad_E.unsqueeze(-2) - turned
        grad_A = weights @ V.mT
        if B is None:
            return (grad_A + grad_A.mT) / 2, None, None, None, None
        stretched = V * (V * grad_V).sum(-2, keepdim=True) / 2
        grad_B = -(weights * E.unsqueeze(-2) + stretched) @ V.mT
        return (grad_A + grad_A.mT) / 2, (grad_B + grad_B.mT) / 2, None, None, None
