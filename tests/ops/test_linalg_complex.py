"""Complex matrices beyond the samples of the table: sizes and layouts of products, pending conjugates, eigenvalues, phases, gradients of
decompositions."""

import math

import pytest

import retrograd as torch
from retrograd import linalg

C128, C64 = torch.complex128, torch.complex64


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(7)


def randn(*shape, dtype=C128):
    return torch.randn(*shape, dtype=dtype)


def positive(n):
    a = randn(n, n)
    return a @ a.mH + torch.eye(n, dtype=C128)


def parts_product(a, b):
    """a @ b by products of real matrices."""
    a, b = a.resolve_conj(), b.resolve_conj()
    real = a.real @ b.real - a.imag @ b.imag
    return torch.complex(real, a.real @ b.imag + a.imag @ b.real)


def close(a, b, tolerance=1e-10):
    assert a.dtype == b.dtype and a.shape == b.shape, f"{a.dtype} {a.shape}, expected {b.dtype} {b.shape}"
    torch.testing.assert_close(a.resolve_conj(), b.resolve_conj(), rtol=tolerance, atol=tolerance * max(1.0, float(b.abs().max())))


# ---- products ----

LAYOUTS = {
    "rows": lambda t: t,
    "columns": lambda t: t.mT.contiguous().mT,
    "conjugate": lambda t: t.conj().resolve_conj().conj(),
    "adjoint": lambda t: t.mH.resolve_conj().mH,
    "strided": lambda t: torch.stack([t, t], -1).flatten(-2)[..., ::2],
    "spread": lambda t: torch.stack([t, t, t], -1)[..., 1],
}
SIZES = [(1, 1, 1), (4, 4, 4), (3, 0, 2), (5, 70, 1), (1, 70, 5), (33, 40, 37), (65, 130, 70), (1, 40000, 2), (3, 2, 20000)]


@pytest.mark.parametrize(("dtype", "tolerance"), [(C128, 1e-11), (C64, 1e-4)])
@pytest.mark.parametrize(("m", "k", "n"), SIZES)
@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
def test_products_of_all_layouts(left, right, m, k, n, dtype, tolerance):
    a, b = randn(m, k, dtype=dtype), randn(k, n, dtype=dtype)
    x, y = LAYOUTS[left](a), LAYOUTS[right](b)
    expected = parts_product(a, b)
    if not expected.numel():
        return
    close(x @ y, expected, tolerance)
    if n == 1:
        close(x @ y[:, 0], expected[:, 0], tolerance)
    if m * k * n < 10**5:
        close(torch.bmm(torch.stack([x, x.conj()]), torch.stack([y, y])), torch.stack([expected, parts_product(a.conj(), b)]), tolerance)
        close(torch.bmm(x.expand(3, m, k), y.expand(3, k, n)), expected.expand(3, m, n), tolerance)


@pytest.mark.parametrize("n", [0, 1, 3, 67, 20000])
@pytest.mark.parametrize("step", [1, 3])
def test_vectors(n, step):
    x, y = randn(n * step)[::step], randn(n * step)[::step]
    straight, turned = (x * y).sum(), (x.conj() * y).sum()
    for got, expected in (
        (torch.dot(x, y), straight),
        (torch.vdot(x, y), turned),
        (torch.dot(x.conj(), y), turned),
        (torch.vdot(x.conj(), y), straight),
        (torch.vdot(x, y.conj()), straight.conj()),
        (linalg.vecdot(x, y), turned),
    ):
        close(got, expected.resolve_conj(), 1e-9)


@pytest.mark.parametrize("n", [3, 40])
def test_complex_factors(n):
    c, a, b, v = randn(n, n), randn(n, n), randn(n, n), randn(n)
    beta, alpha = 0.5 - 2j, 1.5j
    close(torch.addmm(c, a, b.mH, beta=beta, alpha=alpha), beta * c + alpha * (a @ b.mH))
    close(torch.addmm(v, a, b, beta=beta, alpha=alpha), beta * v + alpha * (a @ b))
    close(torch.addmm(v, a.conj(), b), v + a.conj() @ b)
    close(torch.addmv(v, a, v.conj(), beta=beta, alpha=alpha), beta * v + alpha * (a @ v.conj()))
    close(torch.addr(c, v, v.conj(), beta=beta, alpha=alpha), beta * c + alpha * torch.outer(v, v.conj()))
    batch = [torch.stack([t, t.mT]) for t in (c, a, b)]
    close(torch.baddbmm(*batch, beta=beta, alpha=alpha), beta * batch[0] + alpha * (batch[1] @ batch[2]))
    close(torch.addbmm(c, *batch[1:], beta=beta, alpha=alpha), beta * c + alpha * (batch[1] @ batch[2]).sum(0))


@pytest.mark.parametrize(
    "see", [lambda t: t, lambda t: t.mT, lambda t: t.conj(), lambda t: t.mH], ids=["rows", "columns", "conj", "adjoint"]
)
@pytest.mark.parametrize("n", [4, 40])
def test_in_place_into_any_layout(see, n):
    a, b = randn(n, n), randn(n, n)
    for memory, window in ((randn(n, n), slice(None)), (randn(2 * n, 2 * n), slice(None, None, 2))):
        target = see(memory[window, window])
        expected = 1j * target + (2 - 1j) * (a @ b)
        target.addmm_(a, b, beta=1j, alpha=2 - 1j)
        close(target.resolve_conj(), expected)
        close(see(memory[window, window]).resolve_conj(), expected)


def test_beta_zero_reads_nothing():
    full, a = torch.full((3, 3), math.nan, dtype=C128), randn(3, 3)
    close(torch.addmm(full, a, a, beta=0), a @ a)
    close(torch.addmm(a, full, full, alpha=0), a)
    assert torch.addmm(full, a, a, beta=1j).isnan().all()


def test_real_factors_do_not_mix_parts():
    c = torch.tensor([[complex(math.inf, 1)]])
    one = torch.ones(1, 1, dtype=c.dtype)
    assert torch.addmm(c, one, one, beta=2).item() == complex(math.inf, 2)
    assert torch.addmm(c, one, one, alpha=2).item() == complex(math.inf, 1)


def test_pending_negation_of_real_operands():
    z = randn(5, 5)
    part = z.conj().imag
    assert part.is_neg()
    plain = -z.imag
    close(part @ part, plain @ plain)
    close(torch.bmm(part[None], plain[None]), (plain @ plain)[None])
    close(torch.mv(part, part[0]), plain @ plain[0])
    close(torch.nn.functional.linear(part, part, part[0]), plain @ plain.mT + plain[0])


def test_adjoints_are_lazy():
    a = randn(2, 3, 4)
    for turned in (a.mH, a.adjoint()):
        assert turned.is_conj() and turned.data_ptr() == a.data_ptr() and turned.shape == (2, 4, 3)
        close(turned, a.mT.conj())
    assert a[0].H.is_conj() and not a.real.mH.is_conj()
    assert not a.mH.mH.is_conj()
    with pytest.raises(RuntimeError, match="tensor.H is only supported on matrices"):
        a.H.sum()


@pytest.mark.parametrize("call", [
    lambda r, c: torch.mm(r, c), lambda r, c: torch.addmm(r, r, r, beta=1j), lambda r, c: torch.addmv(r[0], r, r[0], alpha=1j),
    lambda r, c: torch.addr(r, r[0], r[0], beta=1j), lambda r, c: torch.vdot(r[0], c[0]), lambda r, c: linalg.vecdot(r, c),
    lambda r, c: linalg.solve(r, c), lambda r, c: linalg.solve_triangular(r, c, upper=True), lambda r, c: linalg.lstsq(r, c),
    lambda r, c: linalg.multi_dot([r, c]), lambda r, c: linalg.eigvals(r, out=torch.empty(2)), lambda r, c: torch.einsum("ij,jk", r, c),
])  # fmt: skip
def test_real_and_complex_do_not_mix(call):
    r = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
    with pytest.raises(RuntimeError, match="dtype|without overflow|scalar type"):
        call(r, r * (1 + 1j))


@pytest.mark.parametrize(("call", "words"), [
    (lambda c: linalg.matrix_norm(c, dtype=torch.float64), "dtype should be complex for complex inputs, but got Double"),
    (lambda c: linalg.matrix_norm(c.real, "nuc", dtype=C128), "dtype should be real for real inputs, but got ComplexDouble"),
    (lambda c: linalg.matrix_norm(c.to(C128), 1, dtype=C64), r"without narrowing to the specified dtype \(ComplexFloat\)"),
    (lambda c: linalg.vector_norm(c, dtype=torch.float64), "dtype should be complex for complex inputs"),
    (lambda c: linalg.householder_product(c, c[0].real), "tau dtype Float does not match input dtype ComplexFloat"),
    (lambda c: linalg.matrix_rank(c, atol=c[0, 0]), "atol tensor of complex type is not supported"),
    (lambda c: linalg.vecdot(c.real.long(), c.real.long()), "Expected a floating point or complex tensor"),
])  # fmt: skip
def test_what_would_drop_a_part_is_refused(call, words):
    with pytest.raises(RuntimeError, match=words):
        call(torch.tensor([[1 + 1j, 2], [3, 5 - 1j]]))


def test_pairs_at_an_odd_place():
    """The gradient of view_as_real may begin between two pairs of its memory."""
    z = randn(3).requires_grad_()
    all_parts = torch.cat([torch.ones(3, dtype=torch.float64), torch.view_as_real(z).reshape(-1)])
    (all_parts * torch.arange(9.0, dtype=torch.float64)).sum().backward()
    assert z.grad.tolist() == [3 + 4j, 5 + 6j, 7 + 8j]


# ---- decompositions: what they promise ----


@pytest.mark.parametrize(("dtype", "tolerance"), [(C128, 1e-10), (C64, 1e-4)])
@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
def test_decompositions_multiply_back(batch, dtype, tolerance):
    square, tall = randn(*batch, 4, 4, dtype=dtype), randn(*batch, 5, 3, dtype=dtype)
    one = torch.eye(4, dtype=dtype).expand(square.shape)
    hermitian = square @ square.mH + one
    close(square @ linalg.inv(square), one.clone(), tolerance)
    close(square @ linalg.solve(square, one), one.clone(), tolerance)
    for a in (tall, tall.mH, square):
        Q, R = linalg.qr(a)
        close(Q @ R, a, tolerance)
        close(Q.mH @ Q, torch.eye(Q.size(-1), dtype=dtype).expand(*batch, -1, -1).clone(), tolerance)
        U, S, Vh = linalg.svd(a, full_matrices=False)
        assert S.dtype == dtype.to_real()
        close(U * S.unsqueeze(-2) @ Vh, a, tolerance)
        full_U, _, full_Vh = linalg.svd(a)
        close(full_U @ full_U.mH, torch.eye(a.size(-2), dtype=dtype).expand(*batch, -1, -1).clone(), tolerance)
        close(full_Vh @ full_Vh.mH, torch.eye(a.size(-1), dtype=dtype).expand(*batch, -1, -1).clone(), tolerance)
        P, L, U = linalg.lu(a)
        close(P @ L @ U, a, tolerance)
        X = linalg.pinv(a)
        close(a @ X @ a, a, tolerance)
        close((a @ X).mH, a @ X, tolerance)
    for upper in (False, True):
        F = linalg.cholesky(hermitian, upper=upper)
        close(F.mH @ F if upper else F @ F.mH, hermitian, tolerance)
        close(torch.cholesky_inverse(F, upper) @ hermitian, one.clone(), 10 * tolerance)
    for uplo in "LU":
        w, V = linalg.eigh(hermitian.triu() if uplo == "U" else hermitian.tril(), uplo)
        assert w.dtype == dtype.to_real()
        close(V * w.unsqueeze(-2) @ V.mH, hermitian, tolerance)
    sign, log = linalg.slogdet(square)
    assert log.dtype == dtype.to_real()
    close(sign * log.exp(), linalg.det(square), tolerance)


def test_singular_matrices_are_told():
    a = torch.tensor([[1j, 2], [2j, 4]])
    with pytest.raises(linalg.LinAlgError, match="singular"):
        linalg.inv(a)
    with pytest.raises(linalg.LinAlgError, match="not positive-definite"):
        linalg.cholesky(torch.tensor([[1, 2j], [-2j, 1]]))
    assert linalg.matrix_rank(a) == 1
    assert linalg.slogdet(a).sign == 0 and linalg.slogdet(a).logabsdet == -math.inf


# ---- eigenvalues ----


@pytest.mark.parametrize("batch", [(), (3,), (2, 2), (0,)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, C64, C128], ids=str)
@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_eig(dtype, batch, n):
    a = torch.randn(*batch, n, n, dtype=dtype)
    values, vectors = linalg.eig(a)
    complex_dtype = dtype.to_complex()
    assert values.dtype == vectors.dtype == complex_dtype and values.shape == (*batch, n) and vectors.shape == a.shape
    if a.numel():
        tolerance = 1e-10 if complex_dtype == C128 else 1e-3
        close(a.to(complex_dtype) @ vectors, vectors * values.unsqueeze(-2), tolerance)
        torch.testing.assert_close(vectors.abs().square().sum(-2), torch.ones(*batch, n, dtype=dtype.to_real()), rtol=1e-4, atol=1e-4)
        alone = linalg.eigvals(a)
        close(alone.sum(-1), values.sum(-1), tolerance)
        close(alone.prod(-1), linalg.det(a).to(complex_dtype), 10 * tolerance)


def test_eig_of_nothing_and_of_bad_input():
    values, vectors = linalg.eig(torch.ones(3, 0, 0))
    assert values.shape == (3, 0) and vectors.shape == (3, 0, 0) and values.dtype == C64
    for bad in (math.nan, math.inf):
        with pytest.raises(RuntimeError, match="should not contain infs or NaNs"):
            linalg.eig(torch.tensor([[1.0, bad], [0.0, 1.0]]))
        with pytest.raises(RuntimeError, match="should not contain infs or NaNs"):
            linalg.eigvals(torch.tensor([[1.0, complex(0, bad)], [0.0, 1.0]]))
    with pytest.raises(RuntimeError, match="Expected a floating point or complex tensor"):
        linalg.eig(torch.ones(2, 2, dtype=torch.int64))
    with pytest.raises(NotImplementedError, match="'Half'"):
        linalg.eig(torch.ones(2, 2, dtype=torch.float16))
    with pytest.raises(RuntimeError, match="linalg.eigvals: The input tensor A must have at least 2 dimensions"):
        linalg.eigvals(torch.ones(2))


def test_eig_out():
    a = torch.randn(3, 3)
    values, vectors = torch.empty(0, dtype=C64), torch.empty(0, dtype=C64)
    linalg.eig(a, out=(values, vectors))
    close(values, linalg.eig(a).eigenvalues, 1e-6)
    close(linalg.eigvals(a, out=values), linalg.eigvals(a), 1e-6)
    with pytest.raises(RuntimeError, match="Expected eigenvalues to be safely castable"):
        linalg.eigvals(a, out=torch.empty(3))


# ---- derivatives ----


def project(vectors):
    return (vectors.unsqueeze(-2) * vectors.conj().unsqueeze(-3)).reshape(-1)


def flat(*parts):
    """Real numbers of tensors, whatever they are."""
    return torch.cat([torch.view_as_real(p.resolve_conj()).reshape(-1) if p.is_complex() else p.reshape(-1) for p in parts])


def ordered(values):
    return torch.argsort(values.detach().real + 0.37 * values.detach().imag)


def eig_parts(a):
    values, vectors = linalg.eig(a)
    order = ordered(values)
    return flat(values[order], project(vectors[:, order]))


def svd_parts(a, full=False):
    U, S, Vh = linalg.svd(a, full)
    k = S.numel()
    return flat(S, project(U[:, :k]), project(Vh[:k].mH), U[:, :k] @ Vh[:k])


def eigh_parts(a, uplo="L"):
    values, vectors = linalg.eigh((a + a.mH) / 2, uplo)
    return flat(values, project(vectors))


FUNCTIONS = {
    "eig": (eig_parts, lambda: randn(4, 4)),
    "eig of a real matrix": (eig_parts, lambda: torch.randn(4, 4, dtype=torch.float64)),
    "eigvals": (lambda a: flat(linalg.eigvals(a)[ordered(linalg.eigvals(a))]), lambda: randn(4, 4)),
    "eigh": (eigh_parts, lambda: randn(4, 4)),
    "eigh upper": (lambda a: eigh_parts(a, "U"), lambda: randn(3, 3)),
    "svd": (svd_parts, lambda: randn(4, 4)),
    "svd tall": (svd_parts, lambda: randn(5, 3)),
    "svd wide": (lambda a: svd_parts(a, True), lambda: randn(3, 5)),
    "svd, left vectors": (lambda a: flat(project(linalg.svd(a, False).U)), lambda: randn(5, 3)),
    "svd, right vectors": (lambda a: flat(project(linalg.svd(a, False).Vh.mH)), lambda: randn(3, 5)),
    "cholesky": (lambda a: flat(linalg.cholesky((a + a.mH) / 2)), lambda: positive(4)),
    "cholesky upper": (lambda a: flat(linalg.cholesky((a + a.mH) / 2, upper=True)), lambda: positive(4)),
    "qr": (lambda a: flat(*linalg.qr(a)), lambda: randn(5, 3)),
    "qr wide": (lambda a: flat(*linalg.qr(a)), lambda: randn(3, 5)),
    "slogdet": (lambda a: flat(*linalg.slogdet(a)), lambda: randn(3, 3)),
    "det": (lambda a: flat(linalg.det(a)), lambda: randn(3, 3)),
    "det, singular": (lambda a: flat(linalg.det(a)), lambda: randn(3, 2) @ randn(2, 3)),
    "pinv": (lambda a: flat(linalg.pinv(a)), lambda: randn(5, 3)),
    "vdot": (lambda a: flat(torch.vdot(a[0], a[1])), lambda: randn(2, 4)),
    "nuclear norm": (lambda a: flat(linalg.matrix_norm(a, "nuc")), lambda: randn(5, 3)),
    "lu": (lambda a: flat(*linalg.lu(a)[1:]), lambda: randn(5, 3)),
    "matrix_exp": (lambda a: flat(linalg.matrix_exp(a)), lambda: randn(3, 3)),
    "lstsq": (lambda a: flat(linalg.lstsq(a, a.conj()).solution), lambda: randn(5, 3)),
    "householder_product": (lambda a: flat(linalg.householder_product(a, a[0])), lambda: randn(5, 3)),
    "addmm": (lambda a: flat(torch.addmm(a, a.mH, a.conj(), beta=1j, alpha=2 - 1j)), lambda: randn(3, 3)),
}
TWICE = [name for name in FUNCTIONS if "singular" not in name]


def weighted(function, seed):
    """A real function of the matrix."""
    torch.manual_seed(seed)
    weights = None

    def loss(a):
        nonlocal weights
        values = function(a)
        weights = torch.randn(values.shape, dtype=torch.float64) if weights is None else weights
        return (values * weights).sum()

    return loss


def along(gradient, direction):
    return float((gradient.conj() * direction).sum().real)


def difference(f, a, direction, h=1e-5):
    return (float(f(a + h * direction).detach()) - float(f(a - h * direction).detach())) / (2 * h)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_differences(name):
    function, make = FUNCTIONS[name]
    a = make().requires_grad_()
    loss = weighted(function, 3)
    (gradient,) = torch.autograd.grad(loss(a), a)
    assert gradient.dtype == a.dtype
    for _ in range(3):
        direction = torch.randn_like(a.detach())
        assert along(gradient, direction) == pytest.approx(difference(loss, a.detach(), direction), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", TWICE)
def test_second_derivatives_are_differences(name):
    function, make = FUNCTIONS[name]
    a = make().requires_grad_()
    loss = weighted(function, 3)
    first, second = torch.randn_like(a.detach()), torch.randn_like(a.detach())

    def slope(x):
        x = x if x.requires_grad else x.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(loss(x), x, create_graph=True)
        return (gradient.conj() * first).sum().real

    (gradient,) = torch.autograd.grad(slope(a), a)
    assert along(gradient, second) == pytest.approx(difference(slope, a.detach(), second), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_forward_mode_agrees(name):
    function, make = FUNCTIONS[name]
    a = make()
    loss = weighted(function, 3)
    direction = torch.randn_like(a)
    gradient = torch.func.grad(loss)(a)
    _, tangent = torch.func.jvp(loss, (a,), (direction,))
    assert float(tangent) == pytest.approx(along(gradient, direction), rel=1e-7, abs=1e-8)


@pytest.mark.parametrize(("call", "words"), [
    (lambda a: linalg.eig(a).eigenvectors.real.sum(), "linalg_eig_backward: The eigenvectors in the complex case"),
    (lambda a: linalg.eig(a.real + a.imag).eigenvectors.imag.square().sum(), "linalg_eig_backward"),
    (lambda a: linalg.eigh(a + a.mH).eigenvectors.real.sum(), "linalg_eigh_backward"),
    (lambda a: linalg.svd(a).U.real.sum(), "svd_backward: The singular vectors in the complex case"),
    (lambda a: linalg.svd(a).Vh.imag.sum(), "svd_backward"),
])  # fmt: skip
def test_a_loss_that_depends_on_phases_is_refused(call, words):
    a = torch.tensor([[1 + 1j, 2, -1j], [-5, 1 - 2j, 0.5], [0.3, 1j, 2 + 2j]], dtype=C128, requires_grad=True)
    with pytest.raises(RuntimeError, match=f"{words}.*ill-defined"):
        call(a).backward()


def test_products_inside_vmap():
    x, y, a = randn(3, 4), randn(3, 4), randn(3, 4, 4)
    one_by_one = lambda f, *tensors: torch.stack([f(*[t[i] for t in tensors]) for i in range(3)])
    for f, tensors in (
        (torch.vdot, (x, y)),
        (torch.dot, (x, y)),
        (lambda m, v: m.mH @ v.conj(), (a, x)),
        (lambda m: linalg.eigvals(m).sum(), (a,)),
        (lambda m: linalg.eig(m)[0], (a,)),
        (lambda m, v: linalg.solve(m.mH, v), (a, x)),
        (lambda v, m: torch.addmv(v, m, v.conj(), alpha=1j), (x, a)),
    ):
        close(torch.vmap(f)(*tensors), one_by_one(f, *tensors))
    close(torch.vmap(lambda v: torch.vdot(x[0], v))(y), y @ x[0].conj())
    close(torch.vmap(lambda v: torch.vdot(v, x[0]))(y), y.conj() @ x[0])
