"""lobpcg, svd_lowrank and pca_lowrank: a few eigenpairs or singular values of large matrices."""

import pytest

import retrograd as torch


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(5)


def definite(m, *batch, dtype=torch.float64):
    a = torch.randn(*batch, m, m, dtype=dtype)
    return a @ a.mT / m + torch.eye(m, dtype=dtype)


def eigenvalues(A, B=None):
    if B is not None:
        half = torch.linalg.inv(torch.linalg.cholesky(B))
        A = half @ A @ half.mT
    return torch.linalg.eigvalsh(A)


@pytest.mark.parametrize("method", ["ortho", "basic", None])
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("generalised", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_lobpcg_finds_eigenpairs(method, largest, generalised, dtype):
    A, B = definite(30, dtype=dtype), definite(30, dtype=dtype) if generalised else None
    E, X = torch.lobpcg(A, k=3, B=B, largest=largest, method=method)
    expected = eigenvalues(A, B)
    expected = expected.flip(0)[:3] if largest else expected[:3]
    tolerance = 1e-3 if dtype == torch.float32 else 1e-9
    assert torch.allclose(E, expected, rtol=tolerance)
    by_b = X if B is None else B @ X
    assert torch.allclose(A @ X, by_b * E, atol=1e-2 if dtype == torch.float32 else 1e-5)
    assert torch.allclose(X.mT @ by_b, torch.eye(3, dtype=dtype), atol=1e-4)


def test_lobpcg_batches_and_guesses():
    A = definite(9, 2, 3)
    E, X = torch.lobpcg(A, X=torch.randn(2, 3, 9, 3, dtype=torch.float64), k=2)
    assert E.shape == (2, 3, 2) and X.shape == (2, 3, 9, 2)
    assert torch.allclose(E, eigenvalues(A).flip(-1)[..., :2])
    assert torch.lobpcg(A, n=2)[0].shape == (2, 3, 1)
    assert [t.shape for t in torch.lobpcg(A[:0], k=2)] == [(0, 3, 2), (0, 3, 9, 2)]


def test_lobpcg_preconditioned_takes_fewer_steps():
    A = torch.diag(torch.arange(1.0, 101.0, dtype=torch.float64)) + 0.01 * definite(100)
    steps = {}
    for name, iK in (("plain", None), ("helped", torch.linalg.inv(A))):
        E, _ = torch.lobpcg(A, k=2, largest=False, iK=iK, tracker=lambda w, name=name: steps.__setitem__(name, w.ivars["istep"]))
        assert torch.allclose(E, eigenvalues(A)[:2])
    assert steps["helped"] * 2 < steps["plain"]


def test_lobpcg_tracker_may_stop_it():
    seen = []

    def tracker(work):
        seen.append((work.ivars["istep"], work.E.shape, work.X.shape, work.tvars["rerr"].shape))
        work.bvars["force_stop"] = work.ivars["istep"] == 2

    torch.lobpcg(definite(30), k=2, tracker=tracker)
    assert [s[0] for s in seen] == [0, 1, 2]
    assert seen[-1][1:] == ((2,), (30, 2), (2,))


def test_lobpcg_niter():
    steps = []
    torch.lobpcg(definite(40), k=2, niter=3, tol=1e-14, tracker=lambda w: steps.append(w.ivars["istep"]))
    assert steps[-1] == 3


START = [[0.3, -0.2], [1.0, 0.4], [-0.7, 0.9], [0.2, 0.8], [-1.1, 0.3], [0.6, -0.5], [0.1, 1.2]]


@pytest.mark.parametrize("generalised", [False, True])
def test_lobpcg_derivatives(generalised):
    """Of first and second order; vectors up to their sign."""
    inputs = [torch.randn(7, 7, dtype=torch.float64) for _ in range(1 + generalised)]

    def f(*roots):
        A, *B = (r @ r.mT / 7 + torch.eye(7, dtype=torch.float64) for r in roots)
        E, X = torch.lobpcg(A, B=B[0] if B else None, X=torch.tensor(START, dtype=torch.float64), tol=1e-15, niter=60)
        return E, X * X

    inputs = [t.requires_grad_() for t in inputs]
    assert torch.autograd.gradcheck(f, inputs)
    assert torch.autograd.gradgradcheck(f, inputs)


def test_lobpcg_derivatives_of_batches():
    A = definite(7, 2).requires_grad_()
    start = torch.tensor([START, START], dtype=torch.float64)
    E, X = torch.lobpcg(A, X=start, tol=1e-14, niter=100)
    (grad,) = torch.autograd.grad((X**4).sum() + E.sum(), A)
    assert torch.equal(grad, grad.mT)
    for i in range(2):
        one = A[i].detach().requires_grad_()
        E, X = torch.lobpcg(one, X=start[i], tol=1e-14, niter=100)
        assert torch.allclose(torch.autograd.grad((X**4).sum() + E.sum(), one)[0], grad[i])


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.lobpcg(torch.full((6, 6), float("nan"))),
        lambda: torch.lobpcg(torch.eye(6), X=torch.full((6, 1), float("inf"))),
    ],
)
def test_lobpcg_of_what_is_not_finite(call):
    with pytest.raises(torch.linalg.LinAlgError, match="failed to converge because A, B or X holds inf or nan"):
        call()


def test_lobpcg_of_equal_eigenvalues_and_poor_guesses():
    assert torch.allclose(torch.lobpcg(torch.eye(9), k=3)[0], torch.ones(3))
    assert torch.allclose(torch.lobpcg(torch.eye(9), X=torch.ones(9, 2))[0], torch.ones(2))
    assert torch.allclose(torch.lobpcg(torch.eye(9), X=torch.zeros(9, 2))[0], torch.ones(2))
    assert torch.lobpcg(torch.zeros(6, 6), k=2)[0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("shape", [(20, 8), (8, 20), (3, 10, 6)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_svd_lowrank_of_a_low_rank(shape, dtype):
    *batch, m, n = shape
    A = torch.randn(*batch, m, 3, dtype=dtype) @ torch.randn(*batch, 3, n, dtype=dtype)
    U, S, V = torch.svd_lowrank(A, q=4)
    assert U.shape == (*batch, m, 4) and S.shape == (*batch, 4) and V.shape == (*batch, n, 4)
    assert torch.allclose(U @ (S.unsqueeze(-1) * V.mH), A)
    assert torch.allclose(S[..., :3], torch.linalg.svdvals(A)[..., :3])
    assert torch.allclose(U.mH @ U, torch.eye(4, dtype=dtype).expand(*batch, 4, 4))


def test_svd_lowrank_subtracts():
    A = torch.randn(6, 4, dtype=torch.float64)
    mean = A.mean(0, keepdim=True)
    assert torch.allclose(torch.svd_lowrank(A, q=4, M=mean)[1], torch.linalg.svdvals(A - mean))


def test_lowrank_derivatives():
    A = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)

    def f(A):
        torch.manual_seed(0)
        U, S, V = torch.svd_lowrank(A, q=3)
        return S, U**2, V**2

    assert torch.autograd.gradcheck(f, (A,))
    (grad,) = torch.autograd.grad(f(A)[0].sum(), A)
    U, _, Vh = torch.linalg.svd(A.detach(), full_matrices=False)
    assert torch.allclose(grad, U @ Vh)


def test_pca_lowrank_centres():
    A = torch.randn(6, 4, dtype=torch.float64)
    assert torch.allclose(torch.pca_lowrank(A)[1], torch.linalg.svdvals(A - A.mean(0)))
    assert torch.allclose(torch.pca_lowrank(A, center=False)[1], torch.linalg.svdvals(A))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: torch.pca_lowrank(torch.ones(4, 3), q=5),
            ValueError,
            r"q\(=5\) must be non-negative integer and not greater than min\(m, n\)=3",
        ),
        (lambda: torch.pca_lowrank(torch.ones(4, 3), niter=-1), ValueError, r"niter\(=-1\) must be non-negative integer"),
        (lambda: torch.svd_lowrank(torch.ones(4, 3), q=-1), RuntimeError, "Trying to create tensor with negative dimension -1"),
        (lambda: torch.svd_lowrank(torch.ones(4)), ValueError, "not enough values to unpack"),
    ],
)
def test_lowrank_refuses(call, error, words):
    with pytest.raises(error, match=words):
        call()
