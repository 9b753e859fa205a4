"""Distributions on PyTorch and on retrograd side by side: the same draws from random parameters, the same registry, the same names."""

import inspect
import warnings

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402

import retrograd  # noqa: E402
from tests.programs.distributions import _made  # noqa: E402

ENGINES = (torch, retrograd)
MAKES = {engine: {dtype: _made(engine, getattr(engine, dtype)) for dtype in ("float32", "float64")} for engine in ENGINES}


def test_the_same_divergences():
    def pairs(engine):
        return {(p.__name__, q.__name__) for p, q in engine.distributions.kl._KL_REGISTRY}

    missing = pairs(torch) - pairs(retrograd)
    assert not missing
    assert len(pairs(torch)) > 80


def test_the_same_names_and_signatures():
    assert set(retrograd.distributions.__all__) == set(torch.distributions.__all__)
    assert set(retrograd.distributions.constraints.__all__) == set(torch.distributions.constraints.__all__)
    for name in torch.distributions.__all__:
        want, got = getattr(torch.distributions, name), getattr(retrograd.distributions, name)
        if isinstance(want, type):
            assert list(inspect.signature(got).parameters) == list(inspect.signature(want).parameters), name
            missing = {n for n in dir(want) if not n.startswith("_")} - set(dir(got))
            assert not missing, name
    for name in ("biject_to", "transform_to"):
        registered = [{c.__name__ for c in getattr(engine.distributions, name)._registry} for engine in ENGINES]
        assert registered[0] <= registered[1]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", MAKES[torch]["float32"])
def test_the_same_draws(name, dtype):
    """Also where sixteen or more are drawn at once, and from the seeds of another day. The generator is left in the same state."""
    for seed, shape in ((11, (7,)), (12, (3, 40)), (13, ())):
        drawn = []
        for engine in ENGINES:
            engine.manual_seed(seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                drawn.append(MAKES[engine][dtype][name]().sample(shape).numpy())
        np.testing.assert_allclose(
            drawn[1], drawn[0], rtol=2e-5 if dtype == "float32" else 1e-9, atol=1e-6 if dtype == "float32" else 1e-12
        )
        np.testing.assert_array_equal(retrograd.get_rng_state().numpy(), torch.get_rng_state().numpy())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["_standard_gamma", "_sample_dirichlet"])
def test_the_same_bits(name, dtype):
    for seed in range(20):
        torch.manual_seed(seed)
        alpha = torch.rand(9, 1 + seed, dtype=getattr(torch, dtype)) * (0.2, 1, 4, 50)[seed % 4] + 1e-3
        drawn = []
        for engine in ENGINES:
            engine.manual_seed(seed)
            drawn.append(getattr(engine, name)(engine.tensor(alpha.numpy())).numpy())
        np.testing.assert_array_equal(*drawn)
        np.testing.assert_array_equal(retrograd.get_rng_state().numpy(), torch.get_rng_state().numpy())


def test_gradients_of_gamma_draws_are_near():
    """As near as PyTorch's are to the truth, see tests/distributions/test_derivatives.py."""
    for name, args in (("_standard_gamma_grad", (2.0, 1.5)), ("_dirichlet_grad", (0.3, 2.0, 5.0)), ("_dirichlet_grad", (0.01, 0.2, 1.0))):
        values = [getattr(engine, name)(*(engine.tensor(v, dtype=engine.float64) for v in args)).item() for engine in ENGINES]
        assert values[1] == pytest.approx(values[0], rel=1e-3)
