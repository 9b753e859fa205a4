"""Functions that are computed in lanes: no element's value may depend on its neighbours, on where it lies, or on the number of threads."""

from __future__ import annotations

import math

import pytest

import optable
import retrograd as torch
from tests.ops.harness import bound, variants_of

IN_LANES = {op.qualified: op for op in optable.load() if op.kernel.lanes and variants_of(op) and op.overload == ""}
SPECIAL = (0.0, -0.0, 1.0, -1.0, 8.0, 40.0, -3.0, 1e-30, 1e30, math.inf, -math.inf, math.nan)


def assert_same(a: torch.Tensor, b: torch.Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=0, equal_nan=True)


def arguments(entry, dtype: torch.dtype) -> list[torch.Tensor]:
    """Numbers of every kind, so that lanes beside each other take different ways and different times."""
    g = torch.Generator().manual_seed(0)
    n, count = 203, sum(p.type in ("Tensor", "Operand") for p in entry.params)
    numbers = [torch.cat([torch.rand(n, generator=g, dtype=dtype) * 12 - 2, torch.tensor(SPECIAL, dtype=dtype)]) for _ in range(count)]
    if "polynomial" in entry.name:
        numbers[1] = torch.randint(-1, 60, (n + len(SPECIAL),), generator=g).to(dtype)
    if entry.name == "_dirichlet_grad":
        numbers = [torch.rand(n + len(SPECIAL), generator=g, dtype=dtype), numbers[1].abs(), numbers[1].abs() + numbers[2].abs()]
    return numbers


@pytest.mark.parametrize("name", IN_LANES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_alone_as_among_others(name: str, dtype: torch.dtype) -> None:
    entry = IN_LANES[name]
    f, x = bound(torch, entry), arguments(entry, dtype)
    call = (lambda *a: f(1, *a)) if name == "polygamma" else f
    together = call(*x)
    alone = torch.cat([call(*(t[i : i + 1] for t in x)) for i in range(len(x[0]))])
    strided = call(*(torch.stack([t, t], 1)[:, 0] for t in x))
    assert_same(together, alone)
    assert_same(together, strided)


@pytest.mark.parametrize("name", IN_LANES)
def test_any_number_of_threads(name: str) -> None:
    entry = IN_LANES[name]
    f, x = bound(torch, entry), [t.repeat(200) for t in arguments(entry, torch.float32)]
    call = (lambda *a: f(3, *a)) if name == "polygamma" else f
    threads = torch.get_num_threads()
    try:
        results = []
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            results.append(call(*x))
    finally:
        torch.set_num_threads(threads)
    assert_same(results[0], results[1])
    assert_same(results[0], results[2])


@pytest.mark.parametrize(("low", "high"), [(1e-3, 1e-1), (0.1, 5.0), (1.0, 50.0), (20.0, 400.0)])
def test_slopes_of_floats_as_of_doubles(low: float, high: float) -> None:
    """Of floats they are sums of series, of doubles mostly integrals."""
    g = torch.Generator().manual_seed(1)

    def between(a: float, b: float) -> torch.Tensor:
        return (a * (b / a) ** torch.rand(4000, generator=g, dtype=torch.float64)).float().double()

    a, b = between(low, high), between(low, high)
    x = torch.distributions.Gamma(a, torch.ones_like(a)).sample().float().double().clamp(min=1e-30)
    exact, got = torch._standard_gamma_grad(a, x), torch._standard_gamma_grad(a.float(), x.float())
    torch.testing.assert_close(got.double(), exact, rtol=1e-6, atol=0)
    x = torch.rand(4000, generator=g, dtype=torch.float64).clamp(1e-6, 1 - 1e-6).float().double()
    total = (a + b).float().double()
    exact, got = torch._dirichlet_grad(x, a, total), torch._dirichlet_grad(x.float(), a.float(), total.float())
    torch.testing.assert_close(got.double(), exact, rtol=2e-6, atol=1e-30)
