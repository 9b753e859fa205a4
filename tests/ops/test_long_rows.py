"""What takes ways of its own where there is much of it: long rows, tails, nan in a late place, integers that are too large for doubles."""

import math
from fractions import Fraction

import numpy
import pytest

import retrograd as torch

INT64 = numpy.iinfo(numpy.int64)


@pytest.fixture(autouse=True)
def threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def same_for_any_threads(compute):
    """What it gives on one thread, and the same bits on three."""
    torch.set_num_threads(1)
    alone = compute()
    torch.set_num_threads(3)
    together = compute()
    assert alone.numpy().tobytes() == together.numpy().tobytes()
    return alone


@pytest.mark.parametrize("width", [63, 64, 65, 200, 4097])
@pytest.mark.parametrize("name", ["amax", "amin"])
def test_extrema_find_nan_anywhere(name, width):
    x = numpy.random.default_rng(width).standard_normal((9, width)).astype("float32")
    x[0] = -numpy.inf
    x[1] = numpy.inf
    for row in range(2, 8):
        x[row, [0, 7, 31, 62, width // 2, width - 1][row - 2]] = numpy.nan
    result = getattr(torch.tensor(x), name)(1).numpy()
    assert numpy.array_equal(result, getattr(numpy, name)(x, 1), equal_nan=True)
    assert numpy.array_equal(getattr(torch.tensor(x[8]), name)().numpy(), getattr(numpy, name)(x[8]))
    largest = numpy.abs(x).max(1) if name == "amax" else numpy.abs(x).min(1)
    p = math.inf if name == "amax" else -math.inf
    assert numpy.array_equal(torch.linalg.vector_norm(torch.tensor(x), p, 1).numpy(), largest, equal_nan=True)


@pytest.mark.parametrize("size", [7, 300, 5000])
@pytest.mark.parametrize("turned", [False, True])
def test_products_with_factors_that_only_double_can_multiply(size, turned):
    """Four of them may leave the range of float32 where the product of all does not."""
    for large, small in ((1e25, 1e-25), (1e30, 1e-30), (3e38, 1e-38)):
        x = numpy.ones((size, 32), dtype="float32")
        x[0], x[1], x[2], x[3], x[4], x[5] = large, large, small, small, 1.5, -2
        x[6, :3] = 0, numpy.nan, numpy.inf
        x[6, 3] = -0.0
        with numpy.errstate(invalid="ignore"):
            expected = x.astype("float64").prod(0).astype("float32")
        made = torch.tensor(x.T.copy()).prod(1) if turned else torch.tensor(x).prod(0)
        numpy.testing.assert_allclose(made.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(3, 5), (3, 65), (2, 5001), (300, 70), (5, 3, 9)])
def test_prod_and_nansum(shape, dtype):
    x = numpy.random.default_rng(1).uniform(0.9, 1.1, shape).astype(dtype)
    holes = numpy.where(numpy.random.default_rng(2).random(shape) < 0.2, numpy.nan, x).astype(dtype)
    tolerance = {"rtol": 2e-3 if dtype == "float16" else 1e-6}
    for dim in [None, *range(len(shape))]:
        for turn in (lambda a: a, lambda a: a.T):
            with numpy.errstate(over="ignore"):
                product = turn(x).astype("float64").prod(dim).astype(dtype)
            made = torch.tensor(turn(x))
            by_fours = {"rtol": max(3e-6, tolerance["rtol"])}  # factors of float32 meet in float32
            numpy.testing.assert_allclose((made.prod() if dim is None else made.prod(dim)).numpy(), product, **by_fours)
            total = numpy.nansum(turn(holes).astype("float64"), dim)
            numpy.testing.assert_allclose(torch.tensor(turn(holes)).nansum(dim).numpy(), total, **tolerance)
            spread = torch.tensor(numpy.repeat(turn(holes), 2, -1))[..., ::2]
            numpy.testing.assert_allclose(spread.nansum(dim).numpy(), total, **tolerance)
    assert torch.tensor([numpy.nan] * 70, dtype=torch.float32).nansum().item() == 0
    assert math.isnan(torch.tensor([math.inf, -math.inf, math.nan]).nansum().item())
    assert torch.tensor([1e30] * 4 + [1e-30] * 4).prod().item() == pytest.approx(1)  # no overflow on the way


def test_reductions_do_not_depend_on_threads():
    x = torch.randn(700, 1031)
    same_for_any_threads(lambda: x.amax(1))
    same_for_any_threads(lambda: (x * 0.01 + 1).prod())
    same_for_any_threads(lambda: (x * 0.01 + 1).prod(1))
    same_for_any_threads(lambda: x.nansum())


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_integer_division(dtype):
    r = numpy.random.default_rng(3)
    limits = numpy.iinfo(dtype)
    special = [
        limits.min,
        limits.min + 1,
        -(2**51) - 1,
        -(2**51),
        -(2**51) + 1,
        -7,
        -1,
        0,
        1,
        2,
        7,
        2**51 - 1,
        2**51,
        2**53 + 1,
        limits.max,
    ]
    special = [v for v in special if limits.min <= v <= limits.max]
    a = numpy.concatenate([numpy.repeat(special, len(special)), r.integers(limits.min, limits.max, 3000), r.integers(0, 100, 2000)])
    b = numpy.concatenate([numpy.tile(special, len(special)), r.integers(1, min(limits.max, 1000), 3000), r.integers(1, 20, 2000)])
    keep = b != 0
    a, b = a[keep], b[keep]

    def wrapped(values):
        span = limits.max - limits.min + 1
        return [(v - limits.min) % span + limits.min for v in values]

    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    x, y = torch.tensor(a.astype(dtype)), torch.tensor(b.astype(dtype))
    floors = wrapped([p // q for p, q in pairs])
    assert (x // y).tolist() == floors
    assert (x % y).tolist() == [p % q for p, q in pairs]
    assert torch.fmod(x, y).tolist() == [p - q * (abs(p) // abs(q)) * (1 if (p < 0) == (q < 0) else -1) for p, q in pairs]
    assert (x.repeat_interleave(2)[::2] // y).tolist() == floors  # strided
    for divisor in (1, 3, 7):
        assert (x // divisor).tolist() == [p // divisor for p, _ in pairs]
        assert (x % divisor).tolist() == [p % divisor for p, _ in pairs]


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(70, 16), (9, 2049), (3, 5000), (3000,)])
def test_gather_and_scatter_along_rows(shape, dtype):
    r = numpy.random.default_rng(4)
    x = (r.standard_normal(shape) * 9).astype(dtype)
    index = r.integers(0, shape[-1], shape)
    picked = numpy.take_along_axis(x, index, -1)
    assert numpy.array_equal(torch.tensor(x).gather(-1, torch.tensor(index)).numpy(), picked)
    every = torch.tensor(numpy.repeat(x, 2, -1))[..., ::2]
    assert numpy.array_equal(every.gather(-1, torch.tensor(index)).numpy(), picked)
    few = index[..., : shape[-1] // 2]
    assert numpy.array_equal(torch.tensor(x).gather(-1, torch.tensor(index)[..., : shape[-1] // 2]).numpy(), picked[..., : few.shape[-1]])
    wider = torch.tensor(numpy.concatenate([x, x], -1))
    assert numpy.array_equal(wider.gather(-1, torch.tensor(index + shape[-1])).numpy(), picked)
    if dtype == "int8":
        total = numpy.zeros(shape, "int8")
        rows = numpy.broadcast_to(numpy.arange(shape[0])[:, None], shape) if len(shape) == 2 else ()
        numpy.add.at(total, (rows, index) if len(shape) == 2 else index, x)
        assert numpy.array_equal(torch.zeros(shape, dtype=torch.int8).scatter_add(-1, torch.tensor(index), torch.tensor(x)).numpy(), total)


@pytest.mark.parametrize("bad", [-1, 300, INT64.min, INT64.max])
@pytest.mark.parametrize("place", [0, 150, 299])
def test_bad_indices_of_long_rows(place, bad):
    x = torch.randn(20, 300)
    index = torch.zeros(20, 300, dtype=torch.int64)
    index[13, place] = bad
    for call in (lambda: x.gather(1, index), lambda: x.scatter(1, index, x), lambda: torch.zeros(20, 300).scatter_add(1, index, x)):
        with pytest.raises((RuntimeError, IndexError), match=f"index {bad} is out of bounds"):
            call()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64"])
@pytest.mark.parametrize("steps", [1, 2, 3, 100, 100_001])
def test_linspace_is_rounded_once(steps, dtype):
    start, end = (-3, 10 * steps) if dtype == "int64" else (-0.3, 1.7)
    made = same_for_any_threads(lambda: torch.linspace(start, end, steps, dtype=getattr(torch, dtype))).numpy()
    assert made[0] == numpy.array(start, dtype) and made[-1] == numpy.array(end if steps > 1 else start, dtype)
    if dtype != "float32":
        return
    low, high = numpy.float32(start), numpy.float32(end)
    step = (high - low) / numpy.float32(steps - 1) if steps > 1 else numpy.float32(0)
    for i in {*range(min(steps, 50)), *range(max(0, steps - 50), steps), steps // 2, max(0, steps // 2 - 1), steps // 3}:
        exact = Fraction(float(low)) + Fraction(float(step)) * i
        if i >= steps // 2 and steps > 1:
            exact = Fraction(float(high)) - Fraction(float(step)) * (steps - 1 - i)
        assert abs(Fraction(float(made[i])) - exact) * 2 <= Fraction(float(numpy.spacing(numpy.abs(made[i]))))


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("shape", [(7, 1030), (4, 513), (2, 3), (5000,), (3, 4, 300)])
def test_scans_of_floats(shape, name):
    x = numpy.random.default_rng(5).uniform(0.99, 1.01, shape).astype("float32")
    expected = getattr(numpy, name)(x.astype("float64"), -1).astype("float32")
    made = torch.tensor(x)
    assert numpy.array_equal(same_for_any_threads(lambda: getattr(made, name)(-1)).numpy(), expected)
    assert numpy.array_equal(
        getattr(made.half().float(), name)(-1).numpy(), getattr(numpy, name)(x.astype("float16").astype("float64"), -1).astype("float32")
    )
    every = torch.tensor(numpy.repeat(x, 2, -1))[..., ::2]
    assert numpy.array_equal(getattr(every, name)(-1).numpy(), expected)
    getattr(made, f"{name}_")(-1)
    assert numpy.array_equal(made.numpy(), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("p", [0, 1, 2, float("inf")])
@pytest.mark.parametrize("columns", [16, 17, 31, 32, 100, 255, 256, 257])
def test_distances_of_rows(columns, p, dtype):
    a, b = torch.randn(37, columns, dtype=dtype), torch.randn(70, columns, dtype=dtype)
    a[5, 0] = float("nan")
    b[3, columns - 1] = float("nan")
    all_of_them = same_for_any_threads(lambda: torch.cdist(a, b, p))
    one_by_one = torch.cat([torch.cdist(row.unsqueeze(0), b, p) for row in a])  # too few for the way of many
    torch.testing.assert_close(all_of_them, one_by_one, equal_nan=True)
    apart = (a.double().unsqueeze(1) - b.double().unsqueeze(0)).numpy()
    torch.testing.assert_close(all_of_them.double(), torch.tensor(numpy.linalg.norm(apart, p, -1)), equal_nan=True, rtol=1e-5, atol=1e-6)


def test_nan_to_num_and_hardswish():
    values = [math.nan, math.inf, -math.inf, 3.4028234663852886e38, -3.4028234663852886e38, 0.0, -0.0, -3.0, 3.0, -1.5, 1e-42] * 37
    x = torch.tensor(values, dtype=torch.float32)
    assert numpy.array_equal(torch.nan_to_num(x, 1.0, 2.0, 3.0).numpy(), numpy.nan_to_num(x.numpy(), nan=1.0, posinf=2.0, neginf=3.0))
    assert numpy.array_equal(torch.nan_to_num(x).numpy(), numpy.nan_to_num(x.numpy()))
    with numpy.errstate(over="ignore", invalid="ignore"):
        n = x.numpy()
        expected = n * numpy.clip(n + numpy.float32(3), numpy.float32(0), numpy.float32(6)) / numpy.float32(6)
    assert numpy.array_equal(torch.nn.functional.hardswish(x).numpy(), expected, equal_nan=True)


def test_trapezoid_of_even_samples():
    y = torch.randn(5, 7, dtype=torch.float64)
    for dim in (0, 1, -1):
        n = numpy.moveaxis(y.numpy(), dim, -1)
        expected = ((n[:, 1:] + n[:, :-1]) * 0.15).sum(-1)
        numpy.testing.assert_allclose(torch.trapezoid(y, dx=0.3, dim=dim).numpy(), expected, rtol=1e-12, atol=1e-12)
    assert torch.trapezoid(torch.tensor([1, 2, 4])).item() == 4.5
    assert torch.trapezoid(torch.tensor([3.0])).item() == 0
    assert torch.trapezoid(torch.zeros(3, 0)).tolist() == [0, 0, 0]
    y.requires_grad_()
    torch.autograd.gradcheck(lambda a: torch.trapezoid(a, dx=0.5, dim=1), (y,))
