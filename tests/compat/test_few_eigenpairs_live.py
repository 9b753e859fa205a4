"""lobpcg, svd_lowrank, pca_lowrank and the packed factors beside PyTorch's: numbers, first and second derivatives."""

import pytest

torch = pytest.importorskip("torch")

import retrograd  # noqa: E402

ENGINES = (retrograd, torch)


def numbers(seed, *shape):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)).tolist()


def made(engine, values, grad=False):
    return engine.tensor(values, dtype=engine.float64, requires_grad=grad)


def same(ours, theirs, tolerance=1e-8):
    theirs = theirs.detach()
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert torch.allclose(torch.tensor(ours.tolist(), dtype=theirs.dtype).reshape(theirs.shape), theirs, atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_lobpcg_and_its_derivatives(largest, batch):
    results = []
    for engine in ENGINES:
        root = made(engine, numbers(1, *batch, 9, 9))
        A = (root @ root.mT).requires_grad_()
        E, X = engine.lobpcg(A, X=made(engine, numbers(2, *batch, 9, 2)), tol=1e-13, largest=largest)
        loss = (X**2 * made(engine, numbers(3, *batch, 9, 2))).sum() + (E**2).sum()
        (first,) = engine.autograd.grad(loss, A, create_graph=True)
        (second,) = engine.autograd.grad((first**2 * made(engine, numbers(4, *batch, 9, 9))).sum(), A)
        results.append((E, X.abs(), first, second))
    for ours, theirs, tolerance in zip(*results, (1e-9, 1e-6, 1e-5, 1e-3), strict=True):
        same(ours, theirs, tolerance * float(theirs.detach().abs().max()))


def test_lobpcg_of_a_generalised_problem():
    results = []
    for engine in ENGINES:
        roots = [made(engine, numbers(seed, 12, 12)) for seed in (5, 6)]
        A, B = (r @ r.mT + engine.eye(12, dtype=engine.float64) for r in roots)
        results.append(engine.lobpcg(A, k=3, B=B, tol=1e-12)[0])
    same(*results)


@pytest.mark.parametrize("name", ["svd_lowrank", "pca_lowrank"])
@pytest.mark.parametrize("shape", [(7, 5), (5, 7), (2, 6, 4)])
@pytest.mark.parametrize("niter", [0, 2])
def test_lowrank(name, shape, niter):
    """The same random vectors are drawn, so the numbers are the same, up to signs, also where they are not exact."""
    results = []
    for engine in ENGINES:
        A = made(engine, numbers(7, *shape), grad=True)
        engine.manual_seed(11)
        U, S, V = getattr(engine, name)(A, q=3, niter=niter)
        (grad,) = engine.autograd.grad((U**2 * made(engine, numbers(8, *U.shape))).sum() + (S**2).sum() + (V**4).sum(), A)
        results.append((U.abs(), S, V.abs(), grad))
    for ours, theirs in zip(*results, strict=True):
        same(ours, theirs, 1e-6)


@pytest.mark.parametrize("hermitian", [False, True])
@pytest.mark.parametrize("n", [1, 4, 40])
def test_ldl(hermitian, n):
    results = []
    for engine in ENGINES:
        real, imaginary = (made(engine, numbers(seed, 3, n, n)) for seed in (9, 10))
        A = engine.complex(real, imaginary)
        A = A + (A.mH if hermitian else A.mT)
        LD, pivots = engine.linalg.ldl_factor(A, hermitian=hermitian)
        x = engine.linalg.ldl_solve(LD, pivots, A[..., :2] + 1, hermitian=hermitian)
        results.append((engine.view_as_real(x), pivots))
    same(results[0][0], results[1][0], 1e-6)
    if n < 40:  # where pivots tie or nearly do, BLAS libraries choose by rounding
        assert results[0][1].tolist() == results[1][1].tolist()
