"""Batch, group and instance normalisation beyond what the op table samples: every way memory may lie, dtypes, threads, and numbers that are hard."""

import itertools

import pytest

import retrograd

# Each takes another way through the kernels: short and long planes, planes of several pieces, few and many channels, lines that end early.
SHAPES = [
    (2, 3),
    (37, 3),
    (5, 70),
    (3, 300, 2),
    (70, 5, 3),
    (2, 4, 15),
    (2, 4, 16),
    (3, 2, 33),
    (9, 6, 4, 100),
    (2, 4, 3, 5),
    (2, 1, 6, 7),
    (1, 2, 300, 250),
    (2, 260, 8, 9),
    (130, 4, 3, 3),
    (2, 4, 3, 4, 5),
]
LAYOUTS = ("plain", "channels_last", "cut")


def data(torch, shape, layout, seed=0, dtype="float64"):
    """Numbers that both engines draw alike, lying in some way."""
    torch.manual_seed(seed)
    x = torch.randn(shape, dtype=torch.float64).to(getattr(torch, dtype))
    if layout == "channels_last" and len(shape) in (4, 5):
        return x.contiguous(memory_format=torch.channels_last if len(shape) == 4 else torch.channels_last_3d)
    if layout == "cut":
        return torch.stack([x, x], -1)[..., 0]
    return x


def shaped(t, x):
    return t.reshape([1, -1] + [1] * (x.dim() - 2))


def plain_batch_norm(x, weight, bias, eps=1e-5):
    dims = [d for d in range(x.dim()) if d != 1]
    mean = x.mean(dims, keepdim=True)
    var = (x - mean).pow(2).mean(dims, keepdim=True)
    return (x - mean) / (var + eps).sqrt() * shaped(weight, x) + shaped(bias, x)


def plain_group_norm(x, groups, weight, bias, eps=1e-5):
    rows = x.reshape(x.shape[0], groups, -1)
    mean = rows.mean(2, keepdim=True)
    var = (rows - mean).pow(2).mean(2, keepdim=True)
    return ((rows - mean) / (var + eps).sqrt()).reshape(x.shape) * shaped(weight, x) + shaped(bias, x)


def gradients(torch, f, x, weight, bias):
    leaves = [t.detach().requires_grad_() for t in (x, weight, bias)]
    y = f(*leaves)
    torch.manual_seed(5)
    y.backward(torch.randn(y.shape, dtype=torch.float64).to(y.dtype))
    return [y.detach(), *(t.grad for t in leaves)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_batch_norm_is_what_it_says(shape, layout):
    torch = retrograd
    x = data(torch, shape, layout)
    weight, bias = (data(torch, shape[1:2], "plain", seed) for seed in (1, 2))
    got = gradients(torch, lambda x, w, b: torch.nn.functional.batch_norm(x, None, None, w, b, True), x, weight, bias)
    want = gradients(torch, plain_batch_norm, x, weight, bias)
    for a, b in zip(got, want, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_batch_norm_by_running_statistics_is_what_it_says(shape, layout):
    torch = retrograd
    x, channels = data(torch, shape, layout), shape[1]
    weight, bias, mean = (data(torch, (channels,), "plain", seed) for seed in (1, 2, 3))
    var = data(torch, (channels,), "plain", 4).exp()
    got = gradients(torch, lambda x, w, b: torch.nn.functional.batch_norm(x, mean, var, w, b), x, weight, bias)
    want = gradients(
        torch, lambda x, w, b: (x - shaped(mean, x)) / (shaped(var, x) + 1e-5).sqrt() * shaped(w, x) + shaped(b, x), x, weight, bias
    )
    for a, b in zip(got, want, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("shape", "groups"), [(s, g) for s in SHAPES for g in (1, 2, s[1]) if s[1] % g == 0], ids=str)
def test_group_norm_is_what_it_says(shape, groups, layout):
    torch = retrograd
    if len(shape) == 2 and shape[1] == groups:
        return  # groups of one value
    x = data(torch, shape, layout)
    weight, bias = (data(torch, shape[1:2], "plain", seed) for seed in (1, 2))
    got = gradients(torch, lambda x, w, b: torch.nn.functional.group_norm(x, groups, w, b), x, weight, bias)
    want = gradients(torch, lambda x, w, b: plain_group_norm(x, groups, w, b), x, weight, bias)
    for a, b in zip(got, want, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("layout", ["plain", "channels_last"])
@pytest.mark.parametrize("shape", [(5, 70), (2, 4, 33), (9, 6, 4, 100), (2, 260, 8, 9)], ids=str)
def test_less_exact_dtypes(shape, layout, dtype):
    torch = retrograd
    tolerance = {"float32": 1e-4, "bfloat16": 6e-2, "float16": 1e-2}[dtype]
    x, params = data(torch, shape, layout, dtype=dtype), [data(torch, shape[1:2], "plain", seed, "float32") for seed in (1, 2)]
    if dtype == "float16" or shape[1] == 70:
        params = [p.to(x.dtype) for p in params]
    for f, plain in (
        (lambda x, w, b: torch.nn.functional.batch_norm(x, None, None, w, b, True), plain_batch_norm),
        (lambda x, w, b: torch.nn.functional.group_norm(x, 2, w, b), lambda x, w, b: plain_group_norm(x, 2, w, b)),
    ):
        got = gradients(torch, f, x, *params)
        leaves = [t.double() for t in (x, *params)]
        want = gradients(torch, plain, *leaves)
        assert [t.dtype for t in got] == [x.dtype, x.dtype, params[0].dtype, params[0].dtype]
        for a, b in zip(got, want, strict=True):
            torch.testing.assert_close(a.double(), b, rtol=tolerance, atol=tolerance * max(1.0, b.abs().max().item()) / 4)


@pytest.mark.parametrize("layout", ["plain", "channels_last"])
@pytest.mark.parametrize("shape", [(1, 2, 300, 250), (9, 6, 40, 100), (130, 4, 30, 3), (400, 300), (20000, 3), (8, 130, 20, 30)], ids=str)
def test_the_number_of_threads_does_not_matter(shape, layout):
    torch = retrograd
    x = data(torch, shape, layout, dtype="float32")
    weight, bias = (data(torch, shape[1:2], "plain", seed, "float32") for seed in (1, 2))
    groups = 1 if shape[1] % 2 else 2
    found = []
    threads = torch.get_num_threads()
    try:
        for n in (1, 2, 3):
            torch.set_num_threads(n)
            found.append(
                gradients(torch, lambda x, w, b: torch.nn.functional.batch_norm(x, None, None, w, b, True), x, weight, bias)
                + gradients(torch, lambda x, w, b: torch.nn.functional.group_norm(x, groups, w, b), x, weight, bias)
            )
    finally:
        torch.set_num_threads(threads)
    for some in found[1:]:
        for a, b in zip(found[0], some, strict=True):
            assert torch.equal(a, b)


@pytest.mark.parametrize("shape", [(40, 3), (2, 3, 200), (2, 3, 20, 30)], ids=str)
@pytest.mark.parametrize("layout", ["plain", "channels_last"])
def test_means_far_from_zero_and_squares_that_overflow(shape, layout):
    torch = retrograd
    x = data(torch, shape, layout, dtype="float32")
    for wide in (x + 1000, x * 1e25):
        want = plain_batch_norm(wide.double(), torch.ones(3).double(), torch.zeros(3).double(), 1e-5)
        got = torch.nn.functional.batch_norm(wide, None, None, training=True)
        torch.testing.assert_close(got.double(), want, rtol=1e-4, atol=1e-3)
        want = plain_group_norm(wide.double(), 1, torch.ones(3).double(), torch.zeros(3).double(), 1e-5)
        got = torch.nn.functional.group_norm(wide, 1)
        torch.testing.assert_close(got.double(), want, rtol=1e-4, atol=1e-3)


def test_nan_and_inf_stay_in_their_channel():
    torch = retrograd
    for value, shape in itertools.product((float("nan"), float("inf")), ((6, 3), (2, 3, 40), (2, 3, 4, 4))):
        x = torch.ones(shape) * torch.arange(1.0, 1 + shape[0]).reshape([-1] + [1] * (len(shape) - 1))
        x[1, 1] = value
        mean, var = torch.zeros(3), torch.ones(3)
        y = torch.nn.functional.batch_norm(x, mean, var, training=True)
        assert y[:, 1].isnan().all() and not y[:, 0].isnan().any() and not y[:, 2].isnan().any()
        assert var.isnan().tolist() == [False, True, False] and mean.isfinite().tolist() == [True, False, True]


def test_running_statistics_are_written(torch):
    x = torch.arange(24.0).reshape(2, 3, 4)
    both = torch.zeros(3, 2)
    mean, var = both[:, 0], both[:, 1]
    torch.nn.functional.batch_norm(x, mean, var, training=True, momentum=0.5)
    assert both[:, 0].tolist() == [3.75, 5.75, 7.75]
    torch.testing.assert_close(both[:, 1], x.transpose(0, 1).reshape(3, -1).var(1) / 2)


def test_a_write_to_running_statistics_counts():
    torch = retrograd
    mean, var, x = torch.zeros(3), torch.ones(3), torch.randn(4, 3)
    kept = (mean.clone().requires_grad_() * mean).sum()  # saves mean
    torch.nn.functional.batch_norm(x, mean, var, training=True)
    assert (mean._version, var._version) == (1, 1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        kept.backward()
    torch.nn.functional.batch_norm(x, mean, var)
    assert (mean._version, var._version) == (1, 1)


def test_running_statistics_that_cannot_be_written():
    torch = retrograd
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        torch.nn.functional.batch_norm(torch.randn(4, 3), torch.zeros(1).expand(3), torch.ones(3), training=True)
    with torch.inference_mode():
        mean, var = torch.zeros(3), torch.ones(3)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        torch.nn.functional.batch_norm(torch.randn(4, 3), mean, var, training=True)


def test_two_forwards_before_a_backward(torch):
    m = torch.nn.BatchNorm1d(3)
    x = torch.arange(12.0).reshape(4, 3).requires_grad_()
    (m(x).pow(3).sum() + m(x * 2).pow(3).sum()).backward()
    assert x.grad is not None and m.num_batches_tracked == 2


def test_gradients_that_are_not_wanted(torch):
    x = torch.arange(24.0).reshape(2, 3, 4)
    weight = torch.ones(3, requires_grad=True)
    torch.nn.functional.batch_norm(x, None, None, weight, training=True).pow(3).sum().backward()
    assert weight.grad.shape == (3,) and x.grad is None
    torch.nn.functional.group_norm(x, 3, weight).pow(3).sum().backward()


def test_instance_norm_is_a_group_norm_of_single_channels(torch):
    x = torch.randn(2, 3, 4, 5, dtype=torch.float64)
    torch.testing.assert_close(torch.nn.functional.instance_norm(x), torch.nn.functional.group_norm(x, 3))


def test_the_derivative_of_cross_map_is_that_of_its_values():
    torch = retrograd
    x = torch.randn(2, 6, 2, 2, dtype=torch.float64, requires_grad=True)
    for size in (1, 2, 3, 4, 5):
        assert torch.autograd.gradcheck(torch.nn.CrossMapLRN2d(size, 0.5, 0.6, 2.0), (x,))


@pytest.mark.parametrize("training", [True, False])
def test_live(oracle, training):
    for shape, layout, dtype in itertools.product(SHAPES, LAYOUTS, ("float32", "float64")):
        found = []
        for torch in (retrograd, oracle):
            x = data(torch, shape, layout, dtype=dtype)
            weight, bias = (data(torch, shape[1:2], "plain", seed, dtype) for seed in (1, 2))
            mean, var = torch.zeros(shape[1], dtype=x.dtype), torch.ones(shape[1], dtype=x.dtype)

            def f(x, w, b, torch=torch, mean=mean, var=var):
                return torch.nn.functional.batch_norm(x, mean, var, w, b, training)

            got = gradients(torch, f, x, weight, bias)
            found.append([t.double().flatten().tolist() for t in (*got, mean, var)] + [list(got[0].stride()), list(got[1].stride())])
        tolerance = 1e-3 if dtype == "float32" else 1e-9
        for a, b in zip(*found, strict=True):
            assert a == pytest.approx(b, rel=tolerance, abs=tolerance), (shape, layout, dtype)


def test_running_statistics_that_are_negated_lazily_are_written():
    torch = retrograd
    x = torch.randn(8, 3)
    mean = torch.complex(torch.zeros(3), torch.ones(3)).conj().imag
    assert mean.is_neg()
    plain = mean.clone()
    torch.nn.functional.batch_norm(x, mean, torch.ones(3), training=True)
    torch.nn.functional.batch_norm(x, plain, torch.ones(3), training=True)
    assert torch.equal(mean.resolve_neg(), plain) and not torch.equal(plain, -torch.ones(3))


def test_a_transform_may_move_the_running_statistics_of_a_model():
    """They are no part of what is differentiated, so the tensors of a model outside may be written."""
    torch = retrograd
    mean, var, x = torch.zeros(3), torch.ones(3), torch.randn(8, 3)
    torch.func.grad(lambda x: torch.nn.functional.batch_norm(x, mean, var, training=True).pow(3).sum())(x)
    assert torch.allclose(mean, 0.1 * x.mean(0))
