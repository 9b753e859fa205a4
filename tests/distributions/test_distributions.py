"""What is ours in distributions: the cost of a check, names, and what PyTorch does not refuse or give."""

import copy
import gc
import importlib
import pickle
import subprocess
import sys

import pytest

import retrograd as torch

D = torch.distributions
MODULES = [
    "bernoulli",
    "beta",
    "binomial",
    "categorical",
    "cauchy",
    "chi2",
    "constraint_registry",
    "constraints",
    "continuous_bernoulli",
    "dirichlet",
    "distribution",
    "exp_family",
    "exponential",
    "fishersnedecor",
    "gamma",
    "generalized_pareto",
    "geometric",
    "gumbel",
    "half_cauchy",
    "half_normal",
    "independent",
    "inverse_gamma",
    "kl",
    "kumaraswamy",
    "laplace",
    "lkj_cholesky",
    "log_normal",
    "logistic_normal",
    "lowrank_multivariate_normal",
    "mixture_same_family",
    "multinomial",
    "multivariate_normal",
    "negative_binomial",
    "normal",
    "one_hot_categorical",
    "pareto",
    "poisson",
    "relaxed_bernoulli",
    "relaxed_categorical",
    "studentT",
    "transformed_distribution",
    "transforms",
    "uniform",
    "utils",
    "von_mises",
    "weibull",
    "wishart",
]


def test_names():
    assert len(D.__all__) == 67
    for name in D.__all__:
        assert getattr(D, name) is not None
    for name in MODULES:
        module = importlib.import_module(f"retrograd.distributions.{name}")
        assert all(hasattr(module, public) for public in module.__all__)
    assert len(D.constraints.__all__) == 32
    ours = [pair for pair in D.kl._KL_REGISTRY if all(cls.__module__.startswith(D.__name__) for cls in pair)]  # other tests register some
    assert len(ours) == 87


def test_loaded_when_asked_for():
    code = "import sys, retrograd; assert 'retrograd.distributions' not in sys.modules; retrograd.distributions.Normal(0.0, 1.0)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_range_is_one_op():
    """Shortcuts of constraints agree with their checks."""
    C = D.constraints
    values = [-1.5, -1.0, -0.0, 0.0, 1e-45, 0.5, 1.0, 1.0 + 1e-7, 2.0, 3.0, float("inf"), -float("inf"), float("nan")]
    ranges = [
        C.real,
        C.positive,
        C.nonnegative,
        C.unit_interval,
        C.interval(-1, 2),
        C.greater_than(1.0),
        C.greater_than_eq(1),
        C.integer_interval(0, 2),
    ]
    ranges += [
        C.boolean,
        C.less_than(1.0),
        C.half_open_interval(0.0, 1.0),
        C.nonnegative_integer,
        C.interval(torch.tensor(0.0), torch.tensor(1.0)),
    ]
    for c in ranges:
        for dtype in (torch.float32, torch.float64, torch.int64):
            for value in values:
                if dtype == torch.int64 and value != value // 1:
                    continue
                if dtype == torch.int64 and abs(value) == float("inf"):
                    continue
                t = torch.tensor([0.5 if dtype.is_floating_point else 1, value]).to(dtype)
                assert c._holds(t) == bool(c.check(t).all()), (c, t)
    for row in ([0.2, 0.8], [0.5, 0.6], [-0.1, 1.1], [1.0, float("nan")], [0.3, 0.7000002]):
        t = torch.tensor([row, [0.5, 0.5]])
        assert C.simplex._holds(t) == bool(C.simplex.check(t).all())
        assert C.independent(C.positive, 1)._holds(t) == bool(C.independent(C.positive, 1).check(t).all())


def test_a_check_of_ones_own_is_asked():
    class Even(D.constraints._Real):
        def check(self, value):
            return value % 2 == 0

    assert Even()._holds(torch.tensor([2.0]))
    assert not Even()._holds(torch.tensor([1.0]))


def test_probabilities_are_checked_before_they_are_clamped():
    with pytest.raises(ValueError, match="The parameter probs has invalid values"):
        D.ContinuousBernoulli(1.5)
    D.ContinuousBernoulli(1.5, validate_args=False)


def test_generalized_pareto_in_double():
    d = D.GeneralizedPareto(*(torch.tensor(v, dtype=torch.float64) for v in (0.0, 1.0, 0.3)))
    x = d.sample((5,))
    assert torch.allclose(d.icdf(d.cdf(x)), x)


def test_an_inverse_is_held_weakly():
    t = D.ExpTransform()
    inverse = t.inv
    assert t.inv is inverse
    assert inverse.inv is t
    del inverse
    gc.collect()
    assert t._inv() is None
    chain = D.ComposeTransform([t, D.TanhTransform()])
    assert chain.inv.inv is chain


@pytest.mark.parametrize("make", [lambda: D.Normal(torch.zeros(2), 1.0), lambda: D.Gumbel(0.0, 1.0), lambda: D.ExpTransform().inv])
def test_copies(make):
    one = make()
    for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
        assert repr(other) == repr(one)


def test_a_generator_shared_with_others():
    """Every draw takes from the default generator, whose state can be put back."""
    d = D.Beta(torch.tensor([0.5, 2.0]), 1.0)
    state = torch.get_rng_state()
    first = d.sample((3,))
    torch.set_rng_state(state)
    assert torch.equal(d.sample((3,)), first)


@pytest.mark.parametrize("n", [1, 5, 16, 17, 40])
def test_gamma_is_drawn_in_the_order_of_elements(n):
    alpha = torch.rand(n, 3).add(0.1).t()
    torch.manual_seed(0)
    a = torch._standard_gamma(alpha)
    torch.manual_seed(0)
    b = torch._standard_gamma(alpha.contiguous())
    assert torch.equal(a, b)
    rows = torch._sample_dirichlet(alpha)
    assert torch.allclose(rows.sum(-1), torch.ones(3))
    assert ((rows > 0) & (rows < 1)).all()
