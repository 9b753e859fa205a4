"""How draws move with their parameters, against the definition: the quantile of the draw stays. And densities against the distribution function."""

import math

import pytest

import retrograd as torch
from retrograd.autograd import gradcheck

D = torch.distributions
F64 = torch.float64


def gamma_slope(a, x):
    """-dP(a, x)/da over the density, by difference quotients of the incomplete gamma function."""
    h = 1e-4 * a

    def p(a):
        return torch.special.gammainc(torch.tensor(a, dtype=F64), torch.tensor(x, dtype=F64)).item()

    change = (8 * (p(a + h) - p(a - h)) - (p(a + 2 * h) - p(a - 2 * h))) / (12 * h)
    return -change / math.exp((a - 1) * math.log(x) - x - math.lgamma(a))


@pytest.mark.parametrize("a", [0.2, 0.9, 1.0, 3.5, 20.0, 63.0, 65.0, 400.0])
def test_gamma_slope(a):
    torch.manual_seed(0)
    alpha = torch.full((12,), a, dtype=F64)
    x = torch._standard_gamma(alpha)
    for dtype, digits in ((F64, 1e-6), (torch.float32, 2e-5)):
        slopes = torch._standard_gamma_grad(alpha.to(dtype), x.to(dtype)).tolist()
        for value, slope in zip(x.tolist(), slopes, strict=True):
            assert slope == pytest.approx(gamma_slope(a, value), rel=digits)


def beta_cdf(x, a, b, steps=100000):
    """By the midpoint rule in t = u^(1/a) or from the other end, which takes the poles away."""
    if x > a / (a + b):
        return 1 - beta_cdf(1 - x, b, a, steps)
    u = (torch.arange(steps, dtype=F64) + 0.5) / steps
    inside = (1 - x * u ** (1 / a)) ** (b - 1)
    return (inside.mean() * x**a / a).item() / math.exp(math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b))


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (2.0, 3.0), (0.3, 4.0), (8.0, 0.7), (4.0, 6.0)])
def test_beta_slope(a, b):
    torch.manual_seed(1)
    for x in torch._sample_dirichlet(torch.tensor([a, b], dtype=F64).expand(6, 2))[:, 0].tolist():
        h = 1e-3 * a
        change = (8 * (beta_cdf(x, a + h, b) - beta_cdf(x, a - h, b)) - (beta_cdf(x, a + 2 * h, b) - beta_cdf(x, a - 2 * h, b))) / (12 * h)
        log_density = (a - 1) * math.log(x) + (b - 1) * math.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
        for dtype in (F64, torch.float32):
            arguments = (torch.tensor(v, dtype=dtype) for v in (x, a, a + b))
            assert torch._dirichlet_grad(*arguments).item() == pytest.approx(-change / math.exp(log_density) / (1 - x), rel=2e-4)


def test_ends_and_bad_parameters():
    nan, inf = math.nan, math.inf
    slope = torch._standard_gamma_grad(torch.tensor([1.0, -1.0, nan, inf, 1.0]), torch.tensor([0.0, 1.0, 1.0, 1.0, -1.0]))
    assert slope[0] == 0
    assert slope[1:].isnan().all()
    slope = torch._dirichlet_grad(torch.tensor([0.0, 1.0, 0.5, 2.0]), torch.tensor([1.0, 1.0, -1.0, 1.0]), torch.tensor(3.0))
    assert slope[0] == 0
    assert slope[1] == pytest.approx(0.75)  # (psi(3) - psi(1)) / 2
    assert slope[2:].isnan().all()
    tiny = torch._standard_gamma(torch.tensor([0.0, 1e-30, nan]))
    assert (tiny >= torch.finfo(torch.float32).tiny).all()


@pytest.mark.parametrize("name", ["_standard_gamma", "_sample_dirichlet"])
def test_forward_and_reverse_agree(name):
    alpha, tangent = torch.rand(3, 4, dtype=F64) + 0.3, torch.randn(3, 4, dtype=F64)

    def f(a):
        torch.manual_seed(3)
        return getattr(torch, name)(a)

    pushed = torch.func.jvp(f, (alpha,), (tangent,))[1]
    jacobian = torch.func.jacrev(f)(alpha)
    assert torch.allclose(torch.einsum("abcd,cd->ab", jacobian, tangent), pushed)


@pytest.mark.parametrize(
    ("make", "moments"),
    [
        (lambda a: D.Gamma(a, 2.0), lambda a: (a / 2, a * (a + 1) / 4)),
        (lambda a: D.Beta(a, 2.0), lambda a: (a / (a + 2), a * (a + 1) / ((a + 2) * (a + 3)))),
        (lambda a: D.Chi2(a), lambda a: (a, a * (a + 2))),
        (lambda a: D.InverseGamma(a + 4, 2.0), lambda a: (2 / (a + 3), 4 / ((a + 3) * (a + 2)))),
        (lambda a: D.StudentT(a + 4), lambda a: (a * 0, (a + 4) / (a + 2))),
    ],
)
def test_gradients_of_expectations(make, moments):
    """The mean of the gradients of draws is the gradient of the mean, which is known."""
    a = torch.tensor(1.7, dtype=F64, requires_grad=True)
    torch.manual_seed(0)
    x = make(a).rsample((60000,))
    for power, moment in enumerate(moments(a), 1):
        want = torch.autograd.grad(moment, a, retain_graph=True)[0].item()
        each = (torch.autograd.grad(x.pow(power).mean(), a, retain_graph=True)[0]).item()
        assert each == pytest.approx(want, abs=0.03 * (1 + abs(want)))


CASES = {
    "Normal": (D.Normal, (0.3, 1.2)), "Laplace": (D.Laplace, (0.3, 1.2)), "Cauchy": (D.Cauchy, (0.3, 1.2)), "Gumbel": (D.Gumbel, (0.3, 1.2)),
    "LogNormal": (D.LogNormal, (0.3, 1.2)), "Exponential": (D.Exponential, (1.2,)), "Gamma": (D.Gamma, (1.5, 1.2)), "Weibull": (D.Weibull, (1.2, 1.5)),
    "Pareto": (D.Pareto, (1.2, 1.5)), "HalfNormal": (D.HalfNormal, (1.2,)), "HalfCauchy": (D.HalfCauchy, (1.2,)), "Uniform": (D.Uniform, (0.3, 1.2)),
    "Kumaraswamy": (D.Kumaraswamy, (1.2, 1.5)), "ContinuousBernoulli": (D.ContinuousBernoulli, (0.3,)),
    "GeneralizedPareto": (D.GeneralizedPareto, (0.3, 1.2, 0.4)), "InverseGamma": (D.InverseGamma, (1.2, 1.5)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_density_is_the_slope_of_the_distribution_function(name):
    make, parameters = CASES[name]
    d = make(*(torch.tensor(p, dtype=F64) for p in parameters))
    torch.manual_seed(0)
    x = d.sample((5,)).requires_grad_()
    try:
        cdf = d.cdf(x)
    except NotImplementedError:
        pytest.skip("no distribution function")
    assert torch.allclose(torch.autograd.grad(cdf.sum(), x)[0].abs(), d.log_prob(x).exp(), rtol=1e-6)
    try:
        assert torch.allclose(d.icdf(cdf), x, rtol=1e-6)
    except NotImplementedError:
        assert name in ("Gamma", "InverseGamma")


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_densities_and_draws(name):
    make, parameters = CASES[name]
    leaves = [torch.tensor(p, dtype=F64, requires_grad=True) for p in parameters]
    torch.manual_seed(0)
    x = make(*leaves).sample((4,))
    x = x.clamp(min=1.9) if name == "Pareto" else x
    assert gradcheck(lambda *p: make(*p, validate_args=False).log_prob(x), leaves)
    if name in ("Gamma", "InverseGamma"):
        return  # what is drawn jumps where a proposal is refused: the slopes are tested above

    def draw(*p):
        torch.manual_seed(0)
        return make(*p, validate_args=False).rsample((4,))

    assert gradcheck(draw, leaves)
