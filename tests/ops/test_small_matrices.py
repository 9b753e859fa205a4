"""Decompositions of matrices up to 8 x 8, which go a way of their own: products give the matrix back, factors are orthogonal, whatever the numbers are like."""

import numpy
import pytest

import retrograd as torch

rng = numpy.random.default_rng(0)


def _graded(a):
    return a * numpy.exp(rng.uniform(-60, 0, a.shape))


def _sparse(a):
    return a * (rng.random(a.shape) < 0.3)


def _scaled(exponents):
    """A whole matrix far from 1, down to numbers that have lost bits."""
    return lambda a: a * 10.0 ** rng.integers(*exponents)


KINDS = {
    "plain": lambda a: a,
    "equal rows": lambda a: a[:1].repeat(len(a), 0),
    "rank one": lambda a: a[:, :1] * a[:1],
    "graded": _graded,
    "sparse": _sparse,
    "whole numbers": numpy.round,
    "triangular": numpy.tril,
    "zero": numpy.zeros_like,
}
SCALES = {"float32": (-44, 30), "float64": (-320, 300)}


def matrices(kind, dtype, square):
    make = _scaled(SCALES[dtype]) if kind == "far from one" else KINDS[kind]
    for rows in range(1, 10):
        for columns in [rows] if square else range(1, 10):
            for _ in range(4 if square else 1):
                with numpy.errstate(over="ignore", under="ignore"):
                    yield make(rng.standard_normal((rows, columns))).astype(dtype)


def check_product(product, matrix, scale):
    assert numpy.abs(product - matrix / scale).max() <= 100 * numpy.finfo(matrix.dtype).eps


def check_orthogonal(q):
    assert numpy.abs(q.T @ q - numpy.eye(q.shape[1])).max() <= 50 * numpy.finfo(q.dtype).eps


def arrays(tensors):
    return [t.numpy() for t in tensors]


def size_of(matrix):
    return max(numpy.abs(matrix).max(), numpy.finfo(matrix.dtype).tiny)


cases = pytest.mark.parametrize("kind", [*KINDS, "far from one"])
precisions = pytest.mark.parametrize("dtype", SCALES)


@cases
@precisions
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_qr(kind, dtype, mode):
    for a in matrices(kind, dtype, square=False):
        q, r = arrays(torch.linalg.qr(torch.tensor(a), mode))
        check_product(q @ (r / size_of(a)), a, size_of(a))
        check_orthogonal(q)
        assert not numpy.tril(r, -1).any()
        assert numpy.array_equal(torch.linalg.qr(torch.tensor(a), "r").R.numpy(), r[: min(a.shape)])


@cases
@precisions
def test_svd(kind, dtype):
    for a in matrices(kind, dtype, square=False):
        u, s, vh = arrays(torch.linalg.svd(torch.tensor(a), full_matrices=False))
        check_product((u * (s / size_of(a))) @ vh, a, size_of(a))
        check_orthogonal(u)
        check_orthogonal(vh.T)
        assert (s >= 0).all()
        assert (numpy.diff(s) <= 0).all()
        alone = torch.linalg.svdvals(torch.tensor(a)).numpy()
        assert numpy.abs(alone - s).max() <= 50 * numpy.finfo(dtype).eps * size_of(a)


@cases
@precisions
@pytest.mark.parametrize("triangle", ["L", "U"])
def test_eigh(kind, dtype, triangle):
    for a in matrices(kind, dtype, square=True):
        h = a / 2 + a.T / 2
        other = numpy.tril(h) if triangle == "L" else numpy.triu(h)  # the other triangle is not read
        w, z = arrays(torch.linalg.eigh(torch.tensor(other), UPLO=triangle))
        check_product((z * (w / size_of(a))) @ z.T, h, size_of(a))
        check_orthogonal(z)
        assert (numpy.diff(w) >= 0).all()
        alone = torch.linalg.eigvalsh(torch.tensor(other), UPLO=triangle).numpy()
        assert numpy.abs(alone - w).max() <= 50 * numpy.finfo(dtype).eps * size_of(a)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_not_finite_shows(bad):
    a = torch.eye(4)
    a[2, 1] = bad
    assert not torch.isfinite(torch.linalg.qr(a).R).all()
    assert torch.isnan(torch.linalg.eigvalsh(a)).all()
    with pytest.raises(torch.linalg.LinAlgError):
        torch.linalg.svd(a)
