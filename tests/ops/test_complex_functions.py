"""Functions of complex numbers: quick ones for most, the C++ library's for those that are far out, within one tensor."""

import cmath
import decimal
import itertools
import math

import pytest

import retrograd as torch

np = pytest.importorskip("numpy")

NAMES = ["exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt", "log", "log2", "log10", "log1p", "reciprocal", "exp2"]
DTYPES = [torch.complex64, torch.complex128]
TOLERANCE = {torch.complex64: 6e-7, torch.complex128: 4e-15}


def reference(name, z):
    """In doubles by NumPy, whose functions are C's."""
    with np.errstate(all="ignore"):
        if name == "exp2":
            return np.exp(z * math.log(2))
        if name == "reciprocal":
            return 1 / z
        if name == "log1p":  # NumPy's loses digits near 0
            return np.where(np.abs(z) < 0.01, sum((-1) ** (k + 1) * z**k / k for k in range(1, 9)), np.log1p(z))
        return getattr(np, name)(z)


def close(got, want, tolerance):
    error = np.abs(got - want)
    return (error <= tolerance * np.abs(want)) | (error == 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_numbers_of_all_sizes(name, dtype):
    torch.manual_seed(1)
    size = torch.logspace(-6, 1.9, 200, dtype=torch.float64)
    angle = torch.linspace(-3.1, 3.1, 57, dtype=torch.float64)
    z = torch.polar(size[:, None].expand(200, 57).contiguous(), angle.expand(200, 57).contiguous()).to(dtype)
    if dtype == torch.complex64 and name in ("tan", "tanh", "sin", "cos", "sinh", "cosh", "exp", "expm1", "exp2"):
        z = z[(z.real.abs() < 80) & (z.imag.abs() < 80)]
    got, want = getattr(torch, name)(z).to(torch.complex128).numpy(), reference(name, z.to(torch.complex128).numpy())
    fine = close(got, want, TOLERANCE[dtype] * (30 if name in ("tan", "tanh", "log1p", "exp2") else 2))
    assert fine.all(), (z.numpy()[~fine][:3], got[~fine][:3], want[~fine][:3])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("exp2", "reciprocal", "log1p", "expm1", "log2")])
def test_what_is_far_out_is_the_librarys(name, dtype):
    """Infinities, zeros of both signs, nan and the very large, beside numbers that are none of it."""
    parts = [0.0, -0.0, 1.0, -2.5, math.inf, -math.inf, math.nan, 1e-40, 3e38, -1e30, 1e17, 95.0, -95.0, 720.0]
    z = torch.tensor([complex(a, b) for a, b in itertools.product(parts, parts)], dtype=dtype)
    together = getattr(torch, name)(torch.cat([z, torch.ones(1000, dtype=dtype)]))[: len(z)]
    real = np.float32 if dtype == torch.complex64 else np.float64
    want = reference(name, z.numpy())
    got = together.numpy()
    limit = 4e-6 if dtype == torch.complex64 else 1e-14
    for value, a, b in zip(z.tolist(), got, want, strict=True):
        if np.isfinite(b):
            assert abs(a - b) <= limit * abs(b), (value, a, b)
            assert abs(b) < np.finfo(real).tiny or np.signbit(a.real) == np.signbit(b.real) or abs(b.real) < limit * abs(b), (value, a, b)
        else:
            assert not np.isfinite(a), (value, a, b)
            assert np.isnan(a) == np.isnan(b), (value, a, b)


@pytest.mark.parametrize("dtype", DTYPES)
def test_signs_of_zeros(dtype):
    for name in ("exp", "sin", "cos", "sinh", "cosh", "tan", "tanh", "sqrt", "log"):
        for z in (
            complex(2, 0.0),
            complex(2, -0.0),
            complex(-2, 0.0),
            complex(-2, -0.0),
            complex(0.0, 1),
            complex(-0.0, 1),
            complex(0.0, -1),
        ):
            got, want = getattr(torch, name)(torch.tensor([z] * 40, dtype=dtype))[7].item(), getattr(cmath, name)(z)
            for a, b in ((got.real, want.real), (got.imag, want.imag)):
                assert a == pytest.approx(b, rel=1e-5, abs=1e-7)
                assert b != 0 or math.copysign(1, a) == math.copysign(1, b), (name, z, got, want)


@pytest.mark.parametrize("dtype", DTYPES)
def test_logarithms_keep_their_digits_around_the_unit_circle(dtype):
    torch.manual_seed(2)
    turn = torch.rand(300, dtype=torch.float64) * 6.28
    away = torch.cat([torch.zeros(50, dtype=torch.float64), torch.logspace(-15, -0.4, 250, dtype=torch.float64)])
    z = torch.polar(1 + away, turn).to(dtype)
    with decimal.localcontext() as context:
        context.prec = 60
        exact = [float((decimal.Decimal(w.real) ** 2 + decimal.Decimal(w.imag) ** 2).ln() / 2) for w in z.tolist()]
    got = z.log().real.tolist()
    tolerance = 4e-7 if dtype == torch.complex64 else 2e-12  # a thousand roundings, where |z|^2 is within a thousandth of 1
    assert all(abs(a - b) <= tolerance * abs(b) for a, b in zip(got, exact, strict=True))


@pytest.mark.parametrize("dtype", DTYPES)
def test_sizes_angles_and_signs(dtype):
    parts = [0.0, -0.0, 1.0, -2.5, math.inf, -math.inf, math.nan, 1e-20, 2e38, -1e30]
    z = torch.tensor([complex(a, b) for a, b in itertools.product(parts, parts)] + [3 + 4j] * 100, dtype=dtype)
    for got, want in ((z.abs(), np.abs(z.numpy())), (z.angle(), np.angle(z.numpy()))):
        assert np.allclose(got.numpy(), want, rtol=1e-6, atol=0, equal_nan=True)
    sign = z.sgn()
    finite = (z.abs() > 0) & (z.abs() < math.inf)
    assert torch.allclose(sign[finite].abs(), torch.ones(()).to(z.real.dtype), rtol=1e-6)
    assert (sign[z.abs() == 0] == 0).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_conjugates_in_memory(dtype):
    torch.manual_seed(3)
    z = torch.randn(5, 6, dtype=dtype)
    for x in (z, z.t(), z[::2, 1:], z[0, 0], z[:0], z.conj(), z.expand(2, 5, 6)):
        want = torch.complex(x.real, -x.imag)
        for got in (x.conj().resolve_conj(), torch.conj_physical(x), x.conj().clone(), torch.empty_like(x).copy_(x.conj()), x.conj() * 1):
            assert torch.equal(torch.view_as_real(got.resolve_conj().resolve_neg()), torch.view_as_real(want))
    y = z.clone()
    y.copy_(y.conj())
    assert torch.equal(y, z.conj())
    assert torch.equal(z.clone().conj_physical_(), z.conj())
    assert torch.equal(torch.empty(2, 5, 6, dtype=dtype).copy_(z.conj())[1], z.conj())


@pytest.mark.parametrize("dtype", DTYPES)
def test_whole_powers(dtype):
    torch.manual_seed(4)
    z = torch.randn(64, dtype=dtype)
    for n in (2, 3, -1, 0.5, -0.5):
        want = z.to(torch.complex128).numpy() ** n
        assert close((z**n).to(torch.complex128).numpy(), want, 2e-6 if dtype == torch.complex64 else 1e-14).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_scans(name, dtype):
    torch.manual_seed(5)
    z = torch.polar(1 + torch.randn(7, 300, 5, dtype=torch.float64) / 50, torch.randn(7, 300, 5, dtype=torch.float64)).to(dtype)
    for x in (z, z.transpose(0, 2), z.conj(), z[:, ::3, 1:], z[:0], z[0, 0, 0]):
        for dim in range(-1, x.dim()):
            got = getattr(x, name)(dim)
            want = getattr(np, name)(x.resolve_conj().numpy().astype(np.complex128), axis=dim) if x.dim() else x.numpy()
            assert got.dtype == dtype
            assert np.allclose(
                got.numpy(), want, rtol=3e-7 if dtype == torch.complex64 else 1e-13, atol=1e-6 if dtype == torch.complex64 else 1e-13
            )
    y = z.clone()
    assert torch.equal(getattr(y, name + "_")(1), getattr(z, name)(1))
    assert torch.equal(y, getattr(z, name)(1))
