"""Complex linear algebra on random matrices, run by PyTorch and by retrograd: values and gradients.

What is unique up to a phase (eigenvectors, singular vectors) is compared by something that is not: products, absolute values."""

import math

import pytest

import retrograd

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated", "ignore:Casting complex")

# Each makes its result from the engine and the matrices: a tall one, two square ones, a Hermitian positive one and a vector.


def many(t, dims=2):
    """The matrices (or vectors) of t in one batch."""
    return t.reshape(-1, *t.shape[-dims:])


def one(t, dims=2):
    return many(t, dims)[0]


def _sorted(engine, values):
    """Complex numbers in an order that does not depend on LAPACK."""
    return values.gather(-1, engine.argsort(values.real + 0.37 * values.imag, -1))


def _project(vectors):
    """The projections on the lines that vectors span."""
    return vectors.unsqueeze(-2) * vectors.conj().unsqueeze(-3)


def _eig(e, A):
    values, vectors = e.linalg.eig(A)
    order = e.argsort(values.real + 0.37 * values.imag, -1)
    return values.gather(-1, order), _project(vectors.gather(-1, order.unsqueeze(-2).expand(vectors.shape)))


def _svd(e, A, full):
    U, S, Vh = e.linalg.svd(A, full)
    k = S.size(-1)
    return S, _project(U[..., :k]), _project(Vh[..., :k, :].mH), U[..., :k] @ Vh[..., :k, :]


def _eigh(e, H, uplo):
    values, vectors = e.linalg.eigh(H, uplo)
    return values, _project(vectors)


CALLS = {
    "mm": lambda e, T, A, B, H, v: A @ B,
    "mm of adjoints": lambda e, T, A, B, H, v: A.mH @ B.conj() @ T.mH,
    "mm of transposes": lambda e, T, A, B, H, v: (B.mT @ A.conj()) @ T.mT.conj(),
    "matmul of a vector": lambda e, T, A, B, H, v: (A @ v.unsqueeze(-1), v.conj().unsqueeze(-2) @ A.conj()),
    "vdot": lambda e, T, A, B, H, v: e.vdot(v.flatten(), A[..., 0].flatten()),
    "dot": lambda e, T, A, B, H, v: e.dot(v.flatten().conj(), A[..., 0].flatten()),
    "vecdot": lambda e, T, A, B, H, v: e.linalg.vecdot(A, B, dim=-2),
    "addmm": lambda e, T, A, B, H, v: e.addmm(one(B), one(A), one(H).mH, beta=0.5 - 2j, alpha=1j),
    "addr": lambda e, T, A, B, H, v: e.addr(one(A), one(v, 1).conj(), one(v, 1), beta=1j, alpha=0.5),
    "addmv": lambda e, T, A, B, H, v: e.addmv(one(v, 1), one(A).mH, one(v, 1).conj(), beta=1j, alpha=0.5 - 1j),
    "baddbmm": lambda e, T, A, B, H, v: e.baddbmm(many(A), many(B).conj(), many(H), beta=2j, alpha=1 - 1j),
    "addbmm": lambda e, T, A, B, H, v: e.addbmm(one(A), many(B), many(H).mT, beta=2j, alpha=1 - 1j),
    "einsum": lambda e, T, A, B, H, v: e.einsum("...ij,...kj,...k->...i", A, B.conj(), v),
    "tensordot": lambda e, T, A, B, H, v: e.tensordot(A, B.conj(), ([-1], [-2])),
    "inner": lambda e, T, A, B, H, v: e.inner(A, B),
    "kron": lambda e, T, A, B, H, v: e.kron(v.flatten()[:2], A.flatten()[:3]),
    "linear": lambda e, T, A, B, H, v: e.nn.functional.linear(T, one(A), one(v, 1)),
    "multi_dot": lambda e, T, A, B, H, v: e.linalg.multi_dot([one(T), one(A), one(B).mH]),
    "matrix_power": lambda e, T, A, B, H, v: (e.linalg.matrix_power(A, 3), e.linalg.matrix_power(A, -2)),
    "matrix_exp": lambda e, T, A, B, H, v: e.linalg.matrix_exp(A),
    "solve": lambda e, T, A, B, H, v: e.linalg.solve(A, B),
    "solve a vector": lambda e, T, A, B, H, v: e.linalg.solve(A.mH, v),
    "solve from the right": lambda e, T, A, B, H, v: e.linalg.solve(A, B.mH, left=False),
    "inv": lambda e, T, A, B, H, v: e.linalg.inv(A),
    "det": lambda e, T, A, B, H, v: e.linalg.det(A),
    "slogdet": lambda e, T, A, B, H, v: tuple(e.linalg.slogdet(A)),
    "logdet": lambda e, T, A, B, H, v: e.logdet(H),
    "lu": lambda e, T, A, B, H, v: tuple(e.linalg.lu(T)),
    "lu wide": lambda e, T, A, B, H, v: tuple(e.linalg.lu(T.mH)),
    "lu_solve": lambda e, T, A, B, H, v: e.linalg.lu_solve(*e.linalg.lu_factor(A), B),
    "lu_solve adjoint": lambda e, T, A, B, H, v: e.linalg.lu_solve(*e.linalg.lu_factor(A), B, adjoint=True),
    "lu_solve right": lambda e, T, A, B, H, v: e.linalg.lu_solve(*e.linalg.lu_factor(A), B, left=False),
    "cholesky": lambda e, T, A, B, H, v: e.linalg.cholesky(H),
    "cholesky upper": lambda e, T, A, B, H, v: e.linalg.cholesky(H, upper=True),
    "cholesky_solve": lambda e, T, A, B, H, v: e.cholesky_solve(B, e.linalg.cholesky(H)),
    "cholesky_solve upper": lambda e, T, A, B, H, v: e.cholesky_solve(B, e.linalg.cholesky(H, upper=True), True),
    "cholesky_inverse": lambda e, T, A, B, H, v: e.cholesky_inverse(e.linalg.cholesky(H)),
    "solve_triangular": lambda e, T, A, B, H, v: e.linalg.solve_triangular(A + 3 * H, B, upper=True),
    "solve_triangular unit": lambda e, T, A, B, H, v: e.linalg.solve_triangular(A.mH, B.mT, upper=False, left=False, unitriangular=True),
    "triangular_solve": lambda e, T, A, B, H, v: e.triangular_solve(B, A + 3 * H, transpose=True)[0],
    "qr": lambda e, T, A, B, H, v: tuple(e.linalg.qr(T)),
    "qr wide": lambda e, T, A, B, H, v: tuple(e.linalg.qr(T.mH)),
    "qr complete": lambda e, T, A, B, H, v: tuple(e.linalg.qr(T.mH, "complete")),
    "eigh": lambda e, T, A, B, H, v: _eigh(e, H, "L"),
    "eigh upper": lambda e, T, A, B, H, v: _eigh(e, H, "U"),
    "eigvalsh": lambda e, T, A, B, H, v: e.linalg.eigvalsh(H),
    "eig": lambda e, T, A, B, H, v: _eig(e, A),
    "eig of a real matrix": lambda e, T, A, B, H, v: _eig(e, A.real.contiguous()),
    "eigvals": lambda e, T, A, B, H, v: _sorted(e, e.linalg.eigvals(A)),
    "eigvals of a real matrix": lambda e, T, A, B, H, v: _sorted(e, e.linalg.eigvals(A.real + B.imag)),
    "svd": lambda e, T, A, B, H, v: _svd(e, T, False),
    "svd wide": lambda e, T, A, B, H, v: _svd(e, T.mH, True),
    "svd square": lambda e, T, A, B, H, v: _svd(e, A, True),
    "svdvals": lambda e, T, A, B, H, v: e.linalg.svdvals(T),
    "pinv": lambda e, T, A, B, H, v: e.linalg.pinv(T),
    "pinv wide": lambda e, T, A, B, H, v: e.linalg.pinv(T.mH),
    "pinv hermitian": lambda e, T, A, B, H, v: e.linalg.pinv(H, hermitian=True),
    "lstsq": lambda e, T, A, B, H, v: e.linalg.lstsq(T, T.conj()).solution,
    "matrix norms": lambda e, T, A, B, H, v: tuple(e.linalg.matrix_norm(T, p) for p in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)),
    "cond": lambda e, T, A, B, H, v: tuple(e.linalg.cond(A, p) for p in (None, 2, -2)),
    "cond by the inverse": lambda e, T, A, B, H, v: tuple(
        e.linalg.cond(A.detach(), p) for p in (1, "fro", "nuc", math.inf)
    ),  # PyTorch's has no gradient
    "matrix_rank": lambda e, T, A, B, H, v: (e.linalg.matrix_rank(T), e.linalg.matrix_rank(H, hermitian=True)),
    "cross": lambda e, T, A, B, H, v: e.linalg.cross(A[..., :3, :], B[..., :3, :].conj(), dim=-2),
    "householder_product": lambda e, T, A, B, H, v: e.linalg.householder_product(T, v[..., :2]),
    "tensorinv": lambda e, T, A, B, H, v: e.linalg.tensorinv(A, ind=1) if A.dim() == 2 else A,
    "tensorsolve": lambda e, T, A, B, H, v: e.linalg.tensorsolve(A, v) if A.dim() == 2 else A,
    "vander": lambda e, T, A, B, H, v: e.linalg.vander(v, N=4),
    "cov": lambda e, T, A, B, H, v: e.cov(one(A)),
    "corrcoef": lambda e, T, A, B, H, v: e.corrcoef(one(A)),
}
SHAPES = [((), 3, 4), ((), 4, 6), ((2,), 3, 5), ((2, 2), 4, 7), ((), 9, 20)]


def _numbers(seed, batch, n, m):
    g = torch.Generator().manual_seed(seed)
    made = [torch.randn(*batch, *size, dtype=torch.complex128, generator=g) for size in ((m, n), (n, n), (n, n), (n, n), (n,))]
    made[3] = made[3] @ made[3].mH + torch.eye(n)
    return [t.tolist() for t in made]


def _run(engine, call, numbers):
    leaves = [engine.tensor(x, dtype=engine.complex128, requires_grad=True) for x in numbers]
    T, A, B, H, v = leaves
    out = call(engine, T, A, B, (H + H.mH) / 2, v)
    outs = list(out) if isinstance(out, tuple) else [out]
    loss = 0
    for i, o in enumerate(outs):
        if not o.requires_grad:
            continue
        flat = o.reshape(-1)
        weights = engine.cos(engine.arange(flat.numel(), dtype=engine.float64) * 1.7 + i)
        loss = loss + (flat.real * weights).sum()
        if flat.is_complex():
            loss = loss + (flat.imag * engine.sin(3 * weights)).sum()
    grads = engine.autograd.grad(loss, leaves, allow_unused=True) if not isinstance(loss, int) else []
    return [(str(o.dtype).rpartition(".")[2], o.tolist()) for o in outs], [g if g is None else g.tolist() for g in grads]


def _close(a, b, tolerance):
    a, b = torch.tensor(a), torch.tensor(b)
    assert a.shape == b.shape
    scale = max(1.0, float(b.abs().max())) if b.numel() else 1.0
    assert torch.allclose(a, b, rtol=tolerance, atol=tolerance * scale), f"{a}\nexpected\n{b}"


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_call(name, shape):
    numbers = _numbers(hash_of(name + str(shape)), *shape)
    outs, grads = _run(retrograd, CALLS[name], numbers)
    expected_outs, expected_grads = _run(torch, CALLS[name], numbers)
    for (dtype, values), (expected_dtype, expected) in zip(outs, expected_outs, strict=True):
        assert dtype == expected_dtype
        _close(values, expected, 1e-9)
    for grad, expected in zip(grads, expected_grads, strict=True):
        if expected is None or grad is None:  # a gradient of zeros may be no gradient
            assert not torch.tensor(expected or 0.0).any() and not torch.tensor(grad or 0.0).any()
        else:
            _close(grad, expected, 1e-7)


def hash_of(text):
    return sum((i + 1) * ord(c) for i, c in enumerate(text))


@pytest.mark.parametrize(
    "call",
    [
        lambda e, a: e.linalg.eig(a).eigenvectors.real.sum(),
        lambda e, a: e.linalg.eig(a.real + a.imag).eigenvectors.imag.square().sum(),
        lambda e, a: e.linalg.eigh(a + a.mH).eigenvectors.real.sum(),
        lambda e, a: e.linalg.svd(a).U.real.sum(),
        lambda e, a: e.linalg.svd(a).Vh.real.sum(),
    ],
)
def test_a_loss_that_depends_on_phases_is_refused(call):
    messages = []
    for engine in (torch, retrograd):
        a = engine.tensor([[1 + 1j, 2, -1j], [-5, 1 - 2j, 0.5], [0.3, 1j, 2 + 2j]], dtype=engine.complex128, requires_grad=True)
        with pytest.raises(RuntimeError, match="ill-defined") as error:
            call(engine, a).backward()
        messages.append(str(error.value).split(". ")[0])
    assert messages[0] in messages[1]


MIXED = [
    lambda e, r, c: e.mm(r, c),
    lambda e, r, c: e.bmm(r[None], c[None]),
    lambda e, r, c: e.mv(r, c[0]),
    lambda e, r, c: e.dot(r[0], c[0]),
    lambda e, r, c: e.vdot(r[0], c[0]),
    lambda e, r, c: e.addmm(r, c, c),
    lambda e, r, c: e.addmm(r, r, r, beta=1j),
    lambda e, r, c: e.addmm(r, r, r, alpha=1j),
    lambda e, r, c: e.addmv(r[0], r, r[0], alpha=1j),
    lambda e, r, c: e.addr(r, r[0], r[0], alpha=1j),
    lambda e, r, c: e.baddbmm(r[None], r[None], r[None], alpha=1j),
    lambda e, r, c: e.addbmm(r, r[None], r[None], beta=1j),
    lambda e, r, c: e.tensordot(r, c, 1),
    lambda e, r, c: e.linalg.cross(r[0][[0, 1, 0]], c[0][[0, 1, 0]]),
    lambda e, r, c: e.linalg.vecdot(r, c),
    lambda e, r, c: e.linalg.solve(r, c),
    lambda e, r, c: e.linalg.lstsq(r, c),
    lambda e, r, c: e.linalg.multi_dot([r, c]),
    lambda e, r, c: e.linalg.eigvals(r, out=e.empty(2)),
]


@pytest.mark.parametrize("call", MIXED)
def test_real_and_complex_do_not_mix(call):
    for engine in (torch, retrograd):
        r = engine.tensor([[1.0, 2.0], [3.0, 5.0]])
        with pytest.raises(RuntimeError):
            call(engine, r, r * (1 + 1j))


def test_tangents_of_vectors_keep_the_same_phases():
    """How fast the phases of complex vectors turn in forward mode is a choice; it is PyTorch's."""
    _, A, D, _, _ = _numbers(5, (), 3, 4)

    def turning(engine):
        a, d = (engine.tensor(x, dtype=engine.complex128) for x in (A, D))
        found = []
        for function in (engine.linalg.svd, engine.linalg.eig, lambda a: engine.linalg.eigh(a + a.mH), engine.linalg.qr):
            values, tangents = engine.func.jvp(lambda a, function=function: tuple(function(a)), (a,), (d,))
            order = engine.argsort(values[0].real) if values[0].dim() == 1 else slice(None)
            for v, t in zip(values, tangents, strict=True):
                if v.dim() == 2:
                    found.append(
                        ((v.mH @ t).diagonal() if function is not engine.linalg.svd or v is values[0] else (v @ t.mH).diagonal())[order]
                    )
        return [f.tolist() for f in found]

    for mine, theirs in zip(turning(retrograd), turning(torch), strict=True):
        _close(mine, theirs, 1e-8)
