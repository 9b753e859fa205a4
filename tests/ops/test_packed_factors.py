"""Factors as LAPACK packs them: geqrf, orgqr, ormqr, linalg.ldl_factor, ldl_solve."""

import pytest

import retrograd as torch

DTYPES = [torch.float32, torch.float64, torch.complex64, torch.complex128]


def close(a, b, dtype):
    return torch.allclose(a, b, atol=1e-4 if dtype in (torch.float32, torch.complex64) else 1e-10, rtol=0)


def symmetric(n, dtype, hermitian=False):
    a = torch.randn(n, n, dtype=dtype)
    return a + (a.mH if hermitian else a.mT)


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(3)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (2, 5, 2)])
def test_reflections_give_q_and_r(dtype, shape):
    a = torch.randn(*shape, dtype=dtype)
    packed, tau = torch.geqrf(a)
    k = min(shape[-2:])
    q = torch.orgqr(packed[..., :k], tau)
    r = packed[..., :k, :].triu()
    assert close(q @ r, a, dtype)
    assert close(q.mH @ q, torch.eye(k, dtype=dtype).expand(*shape[:-2], k, k), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
def test_ormqr_multiplies_by_the_whole_q(dtype, left, transpose):
    packed, tau = torch.geqrf(torch.randn(4, 3, dtype=dtype))
    c = torch.randn(4, 2, dtype=dtype) if left else torch.randn(2, 4, dtype=dtype)
    q = torch.linalg.householder_product(torch.cat([packed, torch.zeros(4, 1, dtype=dtype)], 1), tau)
    q = q.mH if transpose else q
    assert close(torch.ormqr(packed, tau, c, left, transpose), q @ c if left else c @ q, dtype)


def test_geqrf_has_no_derivative():
    a = torch.randn(3, 2, requires_grad=True)
    with pytest.raises(RuntimeError, match="derivative for '?geqrf'? is not implemented"):
        torch.geqrf(a).a.sum().backward()


def test_geqrf_under_vmap():
    a = torch.randn(3, 4, 2)
    assert all(torch.equal(x, y) for x, y in zip(torch.vmap(torch.geqrf)(a), torch.geqrf(a), strict=True))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("hermitian", [False, True])
def test_ldl_solves(dtype, hermitian):
    a = torch.stack([symmetric(5, dtype, hermitian) for _ in range(6)]).reshape(2, 3, 5, 5)
    b = torch.randn(3, 5, 2, dtype=dtype)
    LD, pivots = torch.linalg.ldl_factor(a, hermitian=hermitian)
    assert not LD.triu(1).any()
    x = torch.linalg.ldl_solve(LD, pivots, b, hermitian=hermitian)
    assert x.shape == (2, 3, 5, 2)
    assert torch.allclose(a @ x, b.expand(2, 3, 5, 2), atol=1e-2 if dtype in (torch.float32, torch.complex64) else 1e-9)
    assert torch.equal(torch.linalg.ldl_solve(LD, pivots.long(), b, hermitian=hermitian), x)


def test_ldl_of_an_indefinite_matrix_uses_blocks():
    LD, pivots = torch.linalg.ldl_factor(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
    assert pivots.tolist() == [-2, -2]
    assert torch.linalg.ldl_solve(LD, pivots, torch.tensor([[2.0], [3.0]])).tolist() == [[3.0], [2.0]]


def test_ldl_of_a_singular_matrix():
    assert torch.linalg.ldl_factor_ex(torch.zeros(2, 2)).info.item() == 1
    for factor in (torch.linalg.ldl_factor, lambda a: torch.linalg.ldl_factor_ex(a, check_errors=True)):
        with pytest.raises(torch.linalg.LinAlgError, match=r"\(Batch element 1\): The factorization could not be completed"):
            factor(torch.stack([torch.eye(2), torch.zeros(2, 2)]))


def test_ldl_of_what_is_not_finite():
    for n in (2, 70):
        a = torch.eye(n)
        a[1, 0] = float("nan")
        LD, pivots, _ = torch.linalg.ldl_factor_ex(a)
        assert LD.isnan().any()
        assert torch.linalg.ldl_solve(LD, pivots, torch.ones(n, 1)).isnan().any()


@pytest.mark.parametrize("pivots", [[1, 2, -3], [-1, 2, 3], [-2, -2, -3], [1, 2, 4], [0, 1, 2], [-(2**31), -1, 1], [2**31 + 1, 0, 0]])
def test_pivots_that_would_leave_the_matrix(pivots):
    with pytest.raises(RuntimeError, match="Pivots given to ldl_solve must"):
        torch.linalg.ldl_solve(torch.eye(3), torch.tensor(pivots), torch.ones(3, 1))


def test_ldl_has_no_derivative():
    a = symmetric(3, torch.float64).requires_grad_()
    with pytest.raises(RuntimeError, match="derivative for .*ldl_factor_ex.* is not implemented"):
        torch.linalg.ldl_factor(a).LD.sum().backward()


def test_ldl_out():
    a = symmetric(3, torch.float64)
    out = (torch.empty(0, dtype=torch.float64), torch.empty(0, dtype=torch.int32))
    result = torch.linalg.ldl_factor(a, out=out)
    assert result.LD is out[0] and result.pivots is out[1]
    assert torch.equal(out[0], torch.linalg.ldl_factor(a).LD)


def test_lu_unpack_writes_into_out():
    factors = torch.linalg.lu_factor(torch.randn(3, 3) + 3 * torch.eye(3))
    out = tuple(torch.empty(0) for _ in range(3))
    result = torch.lu_unpack(*factors, out=out)
    assert all(a is b for a, b in zip(result, out, strict=True))
    assert all(torch.equal(a, b) for a, b in zip(out, torch.lu_unpack(*factors), strict=True))
