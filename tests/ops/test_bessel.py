"""Bessel's and Airy's functions and orthogonal polynomials: digits (made with mpmath), special arguments, derivatives where formulas meet a 0."""

import math

import pytest

import retrograd as torch
from retrograd import special
from retrograd.autograd import gradcheck, gradgradcheck

NAN, INF = math.nan, math.inf
AT = [0.1, 0.75, 2.0, 3.5, 7.9, 8.1, 25.0, 400.0]
EXACT = {
    "bessel_j0": [0.99750156206604, 0.8642422751666486, 0.22389077914123567, -0.3801277399872634, 0.19436184484127825, 0.14751745404437766, 0.09626678327595811, -0.03882518153078396],
    "bessel_j1": [0.049937526036242, 0.34924360217486217, 0.5767248077568734, 0.1373775273623272, 0.2191793999217512, 0.24760776698159287, -0.1253502495802899, -0.00922205842858635],
    "bessel_y0": [-1.5342386513503667, -0.1371727693857724, 0.5103756726497451, 0.1890219439208265, 0.20652094814437577, 0.23809132870223482, -0.12724943226800614, -0.00917351986075936],
    "bessel_y1": [-6.4589510947020266, -1.0375945507692854, -0.10703243154093754, 0.41018841788751187, -0.18172107728057313, -0.13314879595249593, -0.09882996478323741, 0.03881374498075154],
    "modified_bessel_i0": [1.0025015629340956, 1.1456467780440014, 2.2795853023360673, 7.3782034322254795, 389.406283282158, 469.5006067101215, 5774560606.4663105, 1.0418584503521463e172],
    "modified_bessel_i1": [0.050062526047092694, 0.4019924615809222, 1.590636854637329, 6.205834922258365, 363.8539440845084, 439.48430891035844, 5657865129.878701, 1.0405553112944217e172],
    "modified_bessel_k0": [2.4270690247020164, 0.6105824221164641, 0.11389387274953344, 0.01959889717036849, 0.0001628676676876532, 0.00013173427864935836, 3.4641615622131143e-12, 1.199780043200976e-175],
    "modified_bessel_k1": [9.853844780870606, 0.9495804669621403, 0.13986588181652243, 0.022239392925923834, 0.00017288430649238984, 0.00013964122894503082, 3.5327780731999337e-12, 1.2012788332610325e-175],
    "scaled_modified_bessel_k0": [2.6823261022628944, 1.2926029977639617, 0.8415682150707714, 0.6490263376886884, 0.4393000819002152, 0.4339943754308567, 0.2494366045755967, 0.06264615129957811],
    "scaled_modified_bessel_k1": [10.890182683049696, 2.010261864333922, 1.0334768470686886, 0.7364675480289125, 0.4663177847368799, 0.4600435707528057, 0.25437732954208525, 0.06272441016827716],
    "spherical_bessel_j0": [0.9983341664682815, 0.9088516800311123, 0.45464871341284085, -0.10022377933989139, 0.12644827111895848, 0.11973948282038104, -0.005294070003910921, -0.002127298399097941],
    "airy_ai": [0.3292031299435381, 0.17933630547864524, 0.03492413042327438, 0.002584098786989635, 6.239640097283934e-08, 3.5224356235735714e-08, 8.116026824691387e-38, 0.0],
}  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_digits(name):
    found = getattr(special, name)(torch.tensor(AT, dtype=torch.float64)).tolist()
    # Where the function oscillates, the last place is that of its amplitude.
    size = [max(abs(e), math.sqrt(2 / (math.pi * x)) if name in ("bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1") and x > 2 else 0) for x, e in zip(AT, EXACT[name], strict=True)]  # fmt: skip
    assert all(abs(f - e) <= 1.5e-15 * s for f, e, s in zip(found, EXACT[name], size, strict=True))
    narrow = getattr(special, name)(torch.tensor(AT[:3])).tolist()
    assert narrow == pytest.approx(EXACT[name][:3], rel=2e-7)


def test_airy_to_the_left():
    x = torch.tensor([-2.5, -7.9, -8.1, -30.0, -1000.0], dtype=torch.float64, requires_grad=True)
    y = special.airy_ai(x)
    y.sum().backward()
    exact = [-0.11232506769296609, 0.041701883617386706, -0.14290814709358113, -0.08796818845684216, 0.05597189577301992]
    slope = [0.6788527342647943, 0.9400429980262802, 0.856218586328625, 1.228620602637485, 2.6330710195241287]
    assert y.tolist() == pytest.approx(exact, rel=1e-14, abs=1e-15)
    assert x.grad.tolist() == pytest.approx(slope, rel=1e-14)


@pytest.mark.parametrize(
    ("name", "expected"),
    {
        "airy_ai": (NAN, NAN, 0.3550280538878172),
        "bessel_j0": (NAN, NAN, 1),
        "bessel_j1": (NAN, NAN, 0),
        "bessel_y0": (NAN, NAN, -INF),
        "bessel_y1": (NAN, NAN, -INF),
        "modified_bessel_i0": (NAN, NAN, 1),
        "modified_bessel_i1": (NAN, NAN, 0),
        "modified_bessel_k0": (0, NAN, INF),
        "modified_bessel_k1": (0, NAN, INF),
        "scaled_modified_bessel_k0": (0, NAN, INF),
        "scaled_modified_bessel_k1": (0, NAN, INF),
        "spherical_bessel_j0": (0, 0, 1),
    }.items(),
)
def test_at_the_ends(name, expected):
    """At infinity, minus infinity and 0; nan stays nan."""
    for dtype in (torch.float32, torch.float64):
        found = getattr(special, name)(torch.tensor([INF, -INF, 0.0, NAN], dtype=dtype)).tolist()
        assert found == pytest.approx([*expected, NAN], rel=1e-6, nan_ok=True)


@pytest.mark.parametrize("name", ["bessel_j0", "bessel_j1", "modified_bessel_i0", "modified_bessel_i1", "spherical_bessel_j0", "airy_ai"])
def test_derivatives_around_zero(name):
    x = torch.tensor([0.0, 1e-9, -1e-3, 9.99e-3, 0.02, 1.0], dtype=torch.float64, requires_grad=True)
    f = getattr(special, name)
    assert gradcheck(f, x, atol=1e-7) and gradgradcheck(f, x, atol=1e-6)


# ---- polynomials ----

CLOSED = {
    "chebyshev_polynomial_t": lambda n, a: math.cos(n * a),
    "chebyshev_polynomial_u": lambda n, a: math.sin((n + 1) * a) / math.sin(a),
    "chebyshev_polynomial_v": lambda n, a: math.cos((n + 0.5) * a) / math.cos(a / 2),
    "chebyshev_polynomial_w": lambda n, a: math.sin((n + 0.5) * a) / math.sin(a / 2),
}


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("n", [1, 6, 13, 33, 200])
def test_chebyshev_of_a_cosine(name, n):
    angles = [0.1, 0.7, 1.5, 2.2, 3.0]
    x = torch.tensor([math.cos(a) for a in angles], dtype=torch.float64)
    expected = pytest.approx([CLOSED[name](n, a) for a in angles], rel=1e-12, abs=1e-12)
    assert getattr(special, name)(x, n).tolist() == expected
    assert getattr(special, f"shifted_{name}")((x + 1) / 2, torch.tensor(n)).tolist() == expected


def test_values_of_the_others():
    x = torch.tensor([-1.5, 0.0, 0.5, 2.0], dtype=torch.float64)
    assert special.hermite_polynomial_h(x, 4).tolist() == [16 * v**4 - 48 * v * v + 12 for v in x.tolist()]
    assert special.hermite_polynomial_he(x, 4).tolist() == [v**4 - 6 * v * v + 3 for v in x.tolist()]
    assert special.laguerre_polynomial_l(x, 2).tolist() == [v * v / 2 - 2 * v + 1 for v in x.tolist()]
    assert special.legendre_polynomial_p(x, 3).tolist() == pytest.approx([2.5 * v**3 - 1.5 * v for v in x.tolist()], rel=1e-15)


POLYNOMIALS = [name for name in dir(special) if "polynomial" in name]


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_degrees_that_are_none(name):
    f, x = getattr(special, name), torch.tensor([0.3, NAN, INF], dtype=torch.float64)
    for n in (-1, -7.5, NAN, INF, -INF, 1e30):
        assert f(x, n).tolist() == [0, 0, 0]
    assert f(x, 0).tolist() == f(x, 0.9).tolist() == f(x, -0.5).tolist() == [1, 1, 1]
    assert f(x, 3.9)[0] == f(x, 3)[0] and math.isnan(f(x, 3)[1])
    assert f(torch.tensor(2.0), torch.tensor([1, 2], dtype=torch.uint8)).dtype == torch.float32


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_huge_degrees_end(name):
    x = torch.tensor([0.25, 0.999, 1.0, 1.0001, 30.0, -0.4], dtype=torch.float64)
    found = getattr(special, name)(x, 2**62)
    assert found.shape == x.shape


def test_legendre_of_high_degree():
    x = torch.tensor([0.3, 0.9, -0.7], dtype=torch.float64)
    below = special.legendre_polynomial_p(x, 4194304)  # the last by steps, and the first by the formula for high degrees
    a, b = special.legendre_polynomial_p(x, 4194303), special.legendre_polynomial_p(x, 4194305)
    n = 4194304
    assert torch.allclose((n + 1) * b, (2 * n + 1) * x * below - n * a, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_derivatives_at_the_ends(name):
    """Where the usual formulas divide by 1 - x^2; for degrees beside each other, in numbers and in tensors, whole and broken."""
    f = getattr(special, name)
    x = torch.tensor([-1.0, 1.0, 0.0, 0.5, -0.2], dtype=torch.float64, requires_grad=True)
    for n in (0, 1, 2, 5, 3.7, torch.tensor([0, 1, 2, 3, 4], dtype=torch.uint8), torch.tensor([0.5, 1.5, 6.0, 2.0, -3.0])):
        assert gradcheck(lambda x, n=n: f(x, n), x)
        assert gradgradcheck(lambda x, n=n: f(x, n), x)
    n = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    assert not f(0.5, n).requires_grad and f(x, n).requires_grad
