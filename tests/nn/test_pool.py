"""Pooling beyond what the op table samples: shapes that take every way through the kernels, memory in every layout, dtypes, threads, bad places."""

import itertools
import random

import pytest

import retrograd
from retrograd.nn import functional as F

KINDS = ("max", "avg", "adaptive_avg", "adaptive_max")
LAYOUTS = ("plain", "channels_last", "cut")


def data(torch, shape, layout, dtype="float64"):
    """Numbers that both engines draw alike, lying in some way."""
    torch.manual_seed(0)
    x = torch.randn(shape, dtype=torch.float64).to(getattr(torch, dtype))
    if layout == "channels_last" and len(shape) in (4, 5):
        return x.contiguous(memory_format=torch.channels_last if len(shape) == 4 else torch.channels_last_3d)
    if layout == "cut":
        return torch.stack([x, x], -1)[..., 0]
    return x


def calls(dims, count=24, seed=0):
    """Random sizes and numbers: long rows and short ones, windows that reach out, lie apart, overlap or have steps between."""
    draw = random.Random(seed * 10 + dims)
    for _ in range(count):
        size = [draw.choice([1, 3, 7, 9, 17]) for _ in range(dims - 1)] + [draw.choice([1, 5, 11, 12, 40, 1500 if dims < 3 else 70])]
        kernel = [draw.randint(1, min(4, n)) for n in size]
        numbers = {
            "kernel_size": tuple(kernel),
            "stride": tuple(draw.randint(1, 4) for _ in size),
            "padding": tuple(draw.randint(0, k // 2) for k in kernel),
            "ceil_mode": draw.random() < 0.4,
        }
        shape = (draw.choice([1, 2]), draw.choice([1, 3, 20]), *size)
        dilation = tuple(draw.choice([1, 1, 2]) for _ in size)
        wanted = tuple(draw.randint(1, n + 2) for n in size)
        yield shape if draw.random() < 0.7 else shape[1:], numbers, dilation, wanted, draw.random() < 0.5


def pooled(torch, kind, dims, x, numbers, dilation, wanted, padded):
    functional = torch.nn.functional
    pool = getattr(functional, f"{kind}_pool{dims}d")
    if kind == "max":
        return pool(x, **numbers, dilation=dilation, return_indices=True)
    if kind == "avg":
        return (pool(x, **numbers, count_include_pad=padded),)
    return pool(x, wanted, return_indices=True) if kind == "adaptive_max" else (pool(x, wanted),)


def outcome(torch, kind, dims, call, layout, dtype="float64"):
    """Results, the gradient and the strides of all; or the error."""
    shape, *rest = call
    x = data(torch, shape, layout, dtype).requires_grad_()
    try:
        out = pooled(torch, kind, dims, x, *rest)
    except RuntimeError as e:
        return str(e).split(":")[0]
    weights = torch.linspace(0.5, 1.5, out[0].numel(), dtype=torch.float64).to(x.dtype).reshape(out[0].shape)
    (grad,) = torch.autograd.grad((out[0] * weights).sum(), x)
    strides = [laid(t) for t in out] + ([laid(grad)] if kind != "adaptive_avg" else [])  # that of a mean may be expanded
    return [t.detach().double().tolist() for t in (*out, grad)], strides


def laid(t):
    return [step for step, size in zip(t.stride(), t.shape, strict=True) if size != 1]


def compare(ours, theirs, tolerance=1e-12):
    if isinstance(theirs, str):
        assert ours == theirs or theirs.startswith("Unsupported memory format")  # of one sample in channels_last, which we take
        return
    assert ours[1] == theirs[1]
    for a, b in zip(ours[0], theirs[0], strict=True):
        assert retrograd.allclose(retrograd.tensor(a), retrograd.tensor(b), rtol=tolerance, atol=tolerance, equal_nan=True)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_as_pytorch(oracle, kind, dims, layout):
    for call in calls(dims):
        empty = kind == "max" and meets_nothing(call)
        if not empty:  # PyTorch's places of such windows are outside
            compare(outcome(retrograd, kind, dims, call, layout), outcome(oracle, kind, dims, call, layout), 1e-9)


def meets_nothing(call):
    """Whether some window of a max pooling has no element at all."""
    shape, numbers, dilation, *_ = call
    for n, k, p, d in zip(reversed(shape), *(reversed(t) for t in (numbers["kernel_size"], numbers["padding"], dilation)), strict=False):
        starts = range(-p, n)
        if any(all(not 0 <= s + t * d < n for t in range(k)) for s in starts):
            return True
    return False


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_number_of_threads_gives_the_same_bits(kind, layout):
    threads = retrograd.get_num_threads()
    found = []
    try:
        for count in (1, 2, 3):
            retrograd.set_num_threads(count)
            x = data(retrograd, (3, 20, 70, 65), layout, "float32").requires_grad_()
            numbers = {"kernel_size": (3, 3), "stride": (2, 2), "padding": (1, 1), "ceil_mode": False}
            out = pooled(retrograd, kind, 2, x, numbers, (1, 1), (9, 7), True)
            (grad,) = retrograd.autograd.grad((out[0] * out[0]).sum(), x)
            found.append([t.detach() for t in (*out, grad)])
    finally:
        retrograd.set_num_threads(threads)
    for other in found[1:]:
        assert all(a.equal(b) for a, b in zip(found[0], other, strict=True))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("kind", KINDS)
def test_other_dtypes(oracle, kind, dtype):
    for call, layout in itertools.product(calls(2, 12, seed=1), LAYOUTS):
        if kind != "max" or not meets_nothing(call):
            compare(
                outcome(retrograd, kind, 2, call, layout, dtype),
                outcome(oracle, kind, 2, call, layout, dtype),
                {"float32": 1e-5}.get(dtype, 2e-2),
            )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("dims", [2, 3])
def test_drawn_windows(oracle, dims, dtype):
    found = []
    for torch in (retrograd, oracle):
        x = data(torch, (2, 3, 23, 17, 9)[: dims + 2], "plain", dtype)
        torch.manual_seed(7)
        pool = getattr(torch.nn.functional, f"fractional_max_pool{dims}d")
        found.append([t.double().tolist() for _ in range(4) for t in pool(x, 2, output_size=(13, 9, 5)[:dims], return_indices=True)])
    assert found[0] == found[1]


@pytest.mark.told("nan_origin", why="the largest of nothing is -inf")
def test_windows_that_meet_nothing():
    """They have no place, and nothing goes back through them."""
    x = retrograd.ones(1, 1, 1, 1, requires_grad=True)
    values, places = F.max_pool2d(x, 2, 1, 1, 2, return_indices=True)
    assert values.item() == -float("inf") and places.item() == -1
    assert retrograd.autograd.grad(values, x)[0].item() == 0
    wide = retrograd.zeros(1, 1, 30, requires_grad=True)
    values, places = F.max_pool1d(wide[:, :, :1].expand(1, 1, 1), 2, 1, 1, 2, return_indices=True)
    assert places.tolist() == [[[-1]]]


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("kind", ["adaptive_avg", "adaptive_max"])
def test_no_windows_at_all(kind, dims):
    """PyTorch gives the same, but no gradient."""
    x = retrograd.ones(1, 2, *(4,) * dims, requires_grad=True)
    out = getattr(F, f"{kind}_pool{dims}d")(x, 0)
    assert out.shape == (1, 2, *(0,) * dims)
    assert retrograd.autograd.grad(out.sum(), x)[0].equal(retrograd.zeros_like(x))


def test_places_are_checked():
    x = retrograd.ones(1, 1, 4, 4, requires_grad=True)
    out, places = F.max_pool2d(x, 2, return_indices=True)
    places.data.fill_(99)
    with pytest.raises(RuntimeError, match="Found an invalid max index: 99|modified"):
        out.sum().backward()
    with pytest.raises(RuntimeError, match="Found an invalid max index: -1 "):
        F.max_unpool2d(out.detach(), places.fill_(-1), 2)


@pytest.mark.parametrize("value", [2**31, 2**40, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("place", range(4))
def test_huge_numbers(value, place):
    numbers = [2, 1, 0, 1]
    numbers[place] = value
    for dims in (1, 2, 3):
        x = retrograd.ones(1, 1, *(4,) * dims)
        with pytest.raises(RuntimeError):
            getattr(F, f"max_pool{dims}d")(x, *numbers)
        if place < 3:
            with pytest.raises(RuntimeError):
                getattr(F, f"avg_pool{dims}d")(x, *numbers[:3])


def test_large_numbers_take_no_time():
    x = retrograd.arange(4.0).reshape(1, 1, 1, 4)
    assert F.max_pool2d(x, (1, 2**31 - 1), 1, (0, 2**30 - 1)).max() == 3
    assert F.avg_pool2d(x, (1, 2**31 - 1), 1, (0, 2**30 - 1), divisor_override=1).max() == 6
    assert F.max_pool2d(x, 1, 2**31 - 1).item() == 0


@pytest.mark.parametrize("kind", KINDS)
def test_second_derivatives_and_forward_mode(kind):
    x = data(retrograd, (2, 2, 6, 7), "plain").requires_grad_()
    numbers = {"kernel_size": (3, 2), "stride": (2, 1), "padding": (1, 0), "ceil_mode": True}

    def run(t):
        return pooled(retrograd, kind, 2, t, numbers, (1, 2), (4, 5), False)[0]

    assert retrograd.autograd.gradcheck(run, (x,), check_forward_ad=True)
    assert retrograd.autograd.gradgradcheck(run, (x,))


def test_second_derivatives_of_chance_and_unpooling():
    x = data(retrograd, (2, 2, 6, 6), "plain").requires_grad_()
    samples = retrograd.rand(2, 2, 2, dtype=retrograd.float64)

    def run(t):
        out, _ = F.fractional_max_pool2d(t, 2, output_size=4, return_indices=True, _random_samples=samples)
        pooled, where = F.max_pool2d(t, 2, return_indices=True)
        return out.pow(2), F.max_unpool2d(pooled.pow(3), where, 2)

    assert retrograd.autograd.gradcheck(run, (x,), check_forward_ad=True)
    assert retrograd.autograd.gradgradcheck(run, (x,))


def test_gradients_keep_no_input():
    """The places alone are kept, so that the input may be written."""
    x = retrograd.randn(1, 1, 4, 4, requires_grad=True)
    y = x * 1
    out = F.max_pool2d(y, 2)
    y.zero_()
    out.sum().backward()
    assert x.grad.sum() == 4


@pytest.mark.parametrize(("shape", "numbers"), [((2, 3, 7), (2,)), ((1, 4, 6), (3, 1, 1, 2)), ((3, 8), (2, 2)), ((0, 2, 4), (2,))])
def test_signals_are_pooled_alike_whether_recorded_or_not(shape, numbers):
    x = data(retrograd, shape, "cut")
    recorded = F.max_pool1d(x.clone().requires_grad_(), *numbers)
    assert F.max_pool1d(x, *numbers).equal(recorded.detach()) and recorded.grad_fn.name() == "SqueezeBackward1"
