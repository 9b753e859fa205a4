"""Values and derivatives at special points: zeros that meet, ties, kinks, saturation, infinities, extreme arguments, layouts."""

from __future__ import annotations

import math
import statistics

import pytest

import retrograd as torch
from retrograd.nn import functional as F

NAN, INF = math.nan, math.inf
MAX, MIN = 2**63 - 1, -(2**63)


def derivatives(f, values, dtype="float64"):
    """Value, first and second derivative of the sum of f."""
    x = torch.tensor(values, dtype=getattr(torch, dtype), requires_grad=True)
    y = f(x)
    (g,) = torch.autograd.grad(y.sum().real, x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum().real, x, allow_unused=True) if g.requires_grad else (None,)
    return y.tolist(), g.tolist(), None if h is None else h.tolist()


def near(a, b, rel=1e-9):
    return a == pytest.approx(b, rel=rel, abs=1e-300, nan_ok=True)


# ---- arguments at the ends of int64 ----


@pytest.mark.parametrize("diagonal", [MAX, MAX - 1, 4])
def test_triangles_far_above(diagonal):
    m = torch.arange(1.0, 13.0).reshape(3, 4)
    assert not torch.triu(m, diagonal).any() and torch.equal(torch.tril(m, diagonal), m)
    assert not m.clone().triu_(diagonal).any() and torch.equal(m.clone().tril_(diagonal), m)
    assert torch.triu_indices(3, 4, diagonal).shape == (2, 0) and torch.tril_indices(3, 4, diagonal).shape == (2, 12)


@pytest.mark.parametrize("diagonal", [MIN, MIN + 1, -3])
def test_triangles_far_below(diagonal):
    m = torch.arange(1.0, 13.0).reshape(3, 4)
    assert not torch.tril(m, diagonal).any() and torch.equal(torch.triu(m, diagonal), m)
    assert torch.tril_indices(3, 4, diagonal).shape == (2, 0) and torch.triu_indices(3, 4, diagonal).shape == (2, 12)


# ---- pointwise ----


@pytest.mark.parametrize(("dtype", "lambd"), [("bfloat16", 0.1), ("bfloat16", 0.3), ("float16", 0.3), ("float32", 0.3)])
@pytest.mark.parametrize("name", ["hardshrink", "softshrink"])
def test_shrinking_compares_with_lambda_as_the_dtype_has_it(name, dtype, lambd):
    x = torch.tensor([lambd, -lambd, 1.0], dtype=getattr(torch, dtype), requires_grad=True)
    y = getattr(F, name)(x, lambd)
    assert torch.autograd.grad(y.sum(), x)[0].tolist() == [0.0, 0.0, 1.0]
    if name == "hardshrink":
        assert y.tolist()[:2] == [0.0, 0.0]


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "complex64"])
def test_sinc_around_zero(dtype):
    points = [0.0, 1e-30, 1e-8, 1e-3, -0.1]
    _, g, h = derivatives(torch.sinc, points, dtype)
    t = [math.pi * x for x in points]
    slopes = [math.pi * (-x / 3 + x**3 / 30 - x**5 / 840 + x**7 / 45360) for x in t]
    curves = [math.pi**2 * (-1 / 3 + x**2 / 10 - x**4 / 168 + x**6 / 6480) for x in t]
    rel = 1e-9 if dtype in ("float64", "complex128") else 1e-5
    assert near(g, slopes, rel) and near(h, curves, rel)
    assert torch.autograd.gradgradcheck(torch.sinc, (torch.tensor([0.0, 0.3, 1.2], dtype=torch.double, requires_grad=True),))


@pytest.mark.told("nan_origin", why="what goes in")
def test_derivatives_of_log_ndtr_in_the_tails():
    points = [5.0, 10.0, 14.0, 40.0, -5.0, -100.0, -1000.0]
    exact = [-7.433601914860709e-06, -7.694598626706419e-22, -1.535e-42, 0.0, -0.9672932, -0.9999000599, -0.999999]
    for dtype, rel in (("float64", 1e-3), ("float32", 5e-3)):
        _, g, h = derivatives(torch.special.log_ndtr, points, dtype)
        assert near(h, exact, rel) and all(math.isfinite(x) for x in g)
        assert g[-1] == pytest.approx(1000.001, rel=1e-6)
    assert derivatives(torch.special.log_ndtr, [INF, -INF])[1:] == ([0.0, INF], [0.0, -1.0])
    x = torch.linspace(-6, 6, 9, dtype=torch.double).requires_grad_()
    assert torch.autograd.gradgradcheck(torch.special.log_ndtr, (x,))


def test_derivatives_of_erfcx_where_its_terms_cancel():
    root = 1 / math.sqrt(math.pi)
    for dtype in ("float64", "float32"):
        _, g, h = derivatives(torch.special.erfcx, [100.0, 1000.0], dtype)
        assert near(g, [-root * (1e-4 - 1.5e-8), -root * 1e-6], 1e-5)
        assert near(h[:1], [2 * root * 1e-6], 2e-2 if dtype == "float32" else 1e-3)
    assert torch.autograd.gradgradcheck(torch.special.erfcx, (torch.tensor([-1.0, 0.5, 3.0], dtype=torch.double, requires_grad=True),))


@pytest.mark.parametrize(("name", "curves"), [("i1", [3e-30 / 8, 3.75e-6, 3.75e-5]), ("i1e", [-1.0, -1.0, -1.0])])
def test_bessel_functions_around_zero(name, curves):
    for dtype, rel in (("float64", 1e-3), ("float32", 2e-2)):
        _, g, h = derivatives(getattr(torch.special, name), [1e-30, 1e-5, 1e-4], dtype)
        assert near(g, [0.5, 0.5, 0.5], 1e-3) and near(h, curves, rel)


def test_second_derivative_of_a_quotient_of_small_numbers():
    a = torch.tensor(1e-26, requires_grad=True)
    b = torch.tensor(1e-16, requires_grad=True)
    (g,) = torch.autograd.grad(a / b, b, create_graph=True)
    assert torch.autograd.grad(g, b)[0].item() == pytest.approx(2e22, rel=1e-5)


def test_a_negative_number_to_a_complex_power():
    b = torch.tensor([-1.5, 2.0], dtype=torch.double)
    z = torch.tensor([0.3 + 0.5j, -1 + 0.2j], dtype=torch.cdouble, requires_grad=True)
    assert torch.autograd.gradcheck(lambda z: torch.pow(b, z), (z,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(lambda z: torch.pow(b, z), (z,))


def test_nextafter_does_not_move_with_its_goal():
    z = torch.tensor([1.0, 2.0], requires_grad=True)
    assert torch.autograd.grad(torch.nextafter(torch.ones(1), z).sum(), z)[0].tolist() == [0.0, 0.0]


def test_softplus_has_no_curvature_at_its_threshold():
    assert derivatives(F.softplus, [20.0])[2] == [0.0]


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "true_divide", "floor_divide", "multiply", "subtract", "divide"])
def test_two_numbers_make_a_tensor(name):
    f = getattr(torch, name)
    whole, real = f(5, 2), f(1.5, 2.0)
    assert whole.dtype == (torch.float32 if "div" in name and "floor" not in name else torch.int64) and whole.shape == ()
    assert real.dtype == torch.float32
    if name != "floor_divide":
        assert f(1j, 2.0).dtype == torch.complex64
    python = {"add": 7, "sub": 3, "subtract": 3, "mul": 10, "multiply": 10, "floor_divide": 2}
    assert whole.item() == python.get(name, 2.5)


def test_numbers_on_the_left():
    t = torch.tensor([2.0, 4.0], dtype=torch.float64)
    assert torch.true_divide(1 / 3, t).tolist() == [1 / 6, 1 / 12]  # the number keeps its digits
    assert torch.div(5, t, rounding_mode="floor").tolist() == [2.0, 1.0]
    assert torch.add(1.0, 2.0, alpha=3).item() == 7.0


# ---- activations and losses ----


@pytest.mark.told("nan_origin", why="what goes in")
def test_prelu_at_zero():
    x = torch.tensor([0.0, -1.0, 1.0], dtype=torch.double, requires_grad=True)
    w = torch.tensor([0.25], dtype=torch.double, requires_grad=True)
    gx, gw = torch.autograd.grad(F.prelu(x, w).sum(), (x, w), create_graph=True)
    assert gx.tolist() == [0.25, 0.25, 1.0]
    hx, hw = torch.autograd.grad(gx.sum() + gw.sum(), (x, w))
    assert hx.tolist() == [0.0, 1.0, 0.0] and hw.tolist() == [1.0]
    assert torch.autograd.grad(F.prelu(torch.tensor([NAN, 1.0], dtype=torch.double), w).sum(), w)[0].isnan().all()


@pytest.mark.parametrize("name", ["huber_loss", "smooth_l1_loss"])
def test_the_kink_belongs_to_the_straight_part(name):
    zeros = torch.zeros(5, dtype=torch.double)
    _, g, h = derivatives(lambda x: getattr(F, name)(x, zeros, reduction="sum"), [1.0, -1.0, 0.5, 2.0, 0.0])
    assert g == [1.0, -1.0, 0.5, 1.0, 0.0] and h == [0.0, 0.0, 1.0, 0.0, 1.0]


def test_binary_cross_entropy_at_saturated_probabilities():
    target = torch.tensor([0.0, 1.0, 0.0, 1.0], dtype=torch.double)
    _, g, h = derivatives(lambda p: F.binary_cross_entropy(p, target, reduction="sum"), [0.0, 1.0, 0.3, 0.0])
    assert near(g, [0.0, 0.0, 1 / 0.7, -1e12]) and near(h, [0.0, 0.0, 1 / 0.49, 1e24])
    p, t = (torch.tensor(v, dtype=torch.double, requires_grad=True) for v in ([0.2, 0.6], [0.3, 0.9]))
    assert torch.autograd.gradgradcheck(F.binary_cross_entropy, (p, t))


@pytest.mark.parametrize("bad", [-0.1, 1.1, NAN])
def test_binary_cross_entropy_wants_targets_between_0_and_1(bad):
    with pytest.raises(RuntimeError, match="all elements of target should be between 0 and 1"):
        F.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([bad]))


def test_losses_of_a_single_number():
    for reduction in ("none", "mean", "sum"):
        x = torch.tensor(1.5, requires_grad=True)
        loss = F.multi_margin_loss(x, torch.tensor(0), reduction=reduction)
        assert loss.shape == () and loss.item() == 0 and torch.autograd.grad(loss, x)[0].item() == 0


@pytest.mark.told("nan_origin", why="what goes in")
def test_rrelu_draws_for_what_is_not_positive():
    x = torch.tensor([1.0, -1.0, 0.0, -2.0, NAN, 3.0, -4.0], requires_grad=True)
    torch.manual_seed(3)
    y = F.rrelu(x, training=True)
    (g,) = torch.autograd.grad(y.sum(), x)
    after = torch.rand(1)
    torch.manual_seed(3)
    drawn = torch.empty(4, dtype=torch.float64).uniform_(1 / 8, 1 / 3).float().tolist()
    assert g.tolist() == [1.0, *drawn[:3], 1.0, 1.0, drawn[3]] and torch.equal(after, torch.rand(1))
    for training in (True, False):
        with pytest.raises(RuntimeError, match="Lower bound should be less than or equal to the upper bound"):
            F.rrelu(x, 0.5, 0.2, training=training)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_attention_keeps_its_scores_in_float(dtype):
    torch.manual_seed(0)
    q, k, v = ((torch.randn(4, 6, 8) * 5).to(dtype).requires_grad_() for _ in range(3))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    exact = F.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=True)
    assert out.dtype == dtype and torch.equal(out, exact.to(dtype))
    assert all(g.dtype == dtype for g in torch.autograd.grad(out.float().sum(), (q, k, v)))


def test_norms_of_unusual_dtypes():
    x = torch.tensor([[1 + 1j, 2 - 1j]], dtype=torch.cdouble)
    assert torch.allclose(F.rms_norm(x, (2,), eps=0.0), x * torch.rsqrt((x * x).mean(-1, keepdim=True)))
    whole = torch.arange(12).reshape(1, 3, 4)
    out = F.local_response_norm(whole, 2)
    assert out.dtype == torch.float32 and out[0, 0, 1].item() == 1.0 and out[0, 2, 3].item() == pytest.approx(10.9303923)


# ---- reductions ----


@pytest.mark.told("nan_origin", why="what goes in")
def test_logcumsumexp_before_an_infinity():
    x = torch.tensor([1.0, 0.0, INF, 0.0], dtype=torch.double, requires_grad=True)
    (g,) = torch.autograd.grad(torch.logcumsumexp(x, 0).sum(), x)
    assert near(g.tolist(), [1.7310585786300048, 0.2689414213699951, NAN, 0.0])
    _, _, h = derivatives(lambda x: torch.logcumsumexp(x, 0)[:2].square(), [1.0, 0.0, INF, 0.0])
    assert near(h, [*derivatives(lambda x: torch.logcumsumexp(x, 0).square(), [1.0, 0.0])[2], NAN, 0.0])


def test_logcumsumexp_of_complex_numbers():
    both = torch.logcumsumexp(torch.tensor([complex(INF, 1), complex(INF, 2), 1j]), 0).tolist()
    assert both[0] == complex(INF, 1) and both[1].real == INF and math.isnan(both[1].imag) and math.isnan(both[2].real)
    for bad in (complex(NAN, 0), complex(-INF, NAN), complex(0, NAN)):
        out = torch.logcumsumexp(torch.tensor([bad, 1j]), 0)
        assert torch.view_as_real(out).isnan().all()
    z = torch.tensor([1 + 1j, 2 - 3j, -1 + 0.5j], dtype=torch.cdouble)
    assert torch.allclose(torch.logcumsumexp(z, 0).exp(), z.exp().cumsum(0))


def test_logsumexp_of_a_complex_number():
    z = torch.tensor(1000 + 1j, requires_grad=True)
    out = torch.logsumexp(z, 0)
    assert out.item() == 1000 + 1j and torch.autograd.grad(out.real, z)[0].item() == 1


@pytest.mark.told("nan_origin", why="what goes in")
def test_prod_beside_a_zero_and_a_nan():
    assert near(derivatives(torch.prod, [NAN, 1.0, 2.0, 0.0])[1], [0.0, NAN, NAN, NAN])
    x = torch.tensor([[NAN, 2.0, 0.0], [1.0, 2.0, 3.0]], dtype=torch.double, requires_grad=True)
    (g,) = torch.autograd.grad(x.prod(1).sum(), x)
    assert near(g.tolist()[0], [0.0, NAN, NAN]) and g.tolist()[1] == [6.0, 3.0, 2.0]


@pytest.mark.parametrize(("rows", "columns"), [(2000, 10), (200, 1000), (3, 100_000)])
@pytest.mark.parametrize("shift", [0.0, 1000.0])
def test_moments_of_floats_are_rounded_once(rows, columns, shift):
    torch.manual_seed(0)
    x = torch.randn(rows, columns) + shift
    for matrix, dim in ((x, 1), (x.t().contiguous(), 0), (x.t(), 0)):
        var, mean = torch.var_mean(matrix, dim)
        exact = matrix.double()
        assert ((var - exact.var(dim)) / exact.var(dim)).abs().max() < 6.1e-8
        assert ((mean - exact.mean(dim)) / exact.mean(dim)).abs().max() < 6.1e-8
        assert ((matrix.std(dim) - exact.std(dim)) / exact.std(dim)).abs().max() < 6.1e-8


def test_the_mean_of_infinities():
    for dtype in (torch.float32, torch.float64):
        x = torch.ones(3, 5000, dtype=dtype)
        x[0, 7], x[1, 4999], x[2, 0], x[2, 4500] = INF, -INF, INF, -INF
        for matrix, dim in ((x, 1), (x.t().contiguous(), 0)):
            var, mean = torch.var_mean(matrix, dim)
            assert var.isnan().all() and near(mean.tolist(), [INF, -INF, NAN])


def test_layer_norm_far_from_zero():
    torch.manual_seed(0)
    for n in (10, 1000, 50_000):
        x = torch.randn(4, n) + 1000
        exact = F.layer_norm(x.double(), (n,))
        assert (F.layer_norm(x, (n,)) - exact).abs().max() < 2e-6


def test_layer_norm_of_numbers_whose_squares_overflow():
    x = torch.tensor([[-1e30, 20.0, 1e30, 2.0], [1.0, 2.0, 3.0, 4.0], [INF, 0.0, 1.0, 2.0]])
    out = F.layer_norm(x, (4,))
    assert (out[0] - torch.tensor([-1, 0, 1, 0]) * 2**0.5).abs().max() < 1e-6
    assert torch.equal(out[1], F.layer_norm(x[1], (4,))) and out[2].isnan().all()


# ---- indices ----


@pytest.mark.parametrize("reduce", [lambda x, i, s, k: torch.scatter_reduce(x, 0, i, s, "prod", include_self=k),
                                    lambda x, i, s, k: torch.index_reduce(x, 0, i, s, "prod", include_self=k)])  # fmt: skip
@pytest.mark.parametrize("include_self", [True, False])
def test_products_where_zeros_meet(reduce, include_self):
    x = torch.tensor([2.0, 3.0, 0.0], dtype=torch.double, requires_grad=True)
    s = torch.tensor([0.0, 5.0, 0.0, 2.0, 0.0, 4.0], dtype=torch.double, requires_grad=True)
    index = torch.tensor([0, 0, 0, 1, 1, 2])
    f = lambda x, s: reduce(x, index, s, include_self)
    assert torch.autograd.gradcheck(f, (x, s)) and torch.autograd.gradgradcheck(f, (x, s))
    y = torch.tensor([2.0], dtype=torch.double, requires_grad=True)
    z = torch.zeros(2, dtype=torch.double, requires_grad=True)
    (g,) = torch.autograd.grad(reduce(y, torch.tensor([0, 0]), z, include_self).sum(), z, create_graph=True)
    assert torch.autograd.grad(g[0], z)[0].tolist() == [0.0, 2.0 if include_self else 1.0]


@pytest.mark.told("nan_origin", why="what goes in")
def test_the_nan_gets_the_gradient_of_an_extremum():
    x = torch.tensor([NAN, 1.0], requires_grad=True)
    s = torch.tensor([1.0, 1.0, NAN], requires_grad=True)
    out = torch.scatter_reduce(x, 0, torch.tensor([0, 1, 1]), s, "amax")
    gx, gs = torch.autograd.grad(out.sum(), (x, s))
    assert gx.tolist() == [1.0, 0.0] and gs.tolist() == [0.0, 0.0, 1.0]


def test_take_along_dim_counts_from_the_end():
    x = torch.arange(6).reshape(2, 3)
    assert torch.take_along_dim(x, torch.tensor([[-1], [-3]]), 1).tolist() == [[2], [3]]
    for bad in (-4, 3):
        with pytest.raises(RuntimeError, match="out of bounds"):
            torch.take_along_dim(x, torch.tensor([[bad]]), 1)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.bool, torch.float32, torch.int32])
def test_an_index_without_elements_may_have_any_dtype(dtype):
    nothing, x = torch.empty(0, dtype=dtype), torch.ones(3)
    assert torch.gather(x, 0, nothing).shape == (0,)
    assert torch.equal(x.scatter(0, nothing, 2.0), x) and torch.equal(x.scatter_add(0, nothing, torch.ones(1)), x)


def test_multinomial_refuses_infinite_weights():
    for dtype in (torch.float32, torch.float64, torch.float16):
        for replacement in (True, False):
            with pytest.raises(RuntimeError, match="`inf`, `nan` or element < 0"):
                torch.multinomial(torch.tensor([INF, 1.0], dtype=dtype), 1, replacement)


# ---- shapes and layouts ----


def channels_last(*sizes):
    return torch.arange(float(math.prod(sizes))).reshape(sizes).contiguous(memory_format=torch.channels_last)


def test_joining_keeps_channels_last():
    x = channels_last(2, 3, 4, 5)
    for dim in range(4):
        for parts in ([x, x], [x, x.double()], [x]):
            out = torch.cat(parts, dim)
            assert out.is_contiguous(memory_format=torch.channels_last)
            assert torch.equal(out, torch.cat([p.contiguous() for p in parts], dim))
        assert torch.cat([x, x.contiguous()], dim).is_contiguous()
    assert torch.cat([x[:, :2], x], 1).stride() == (100, 1, 25, 5)
    assert torch.stack([x, x], 1).stride() == (120, 3, 1, 30, 6) and torch.stack([x, x], 4).is_contiguous()
    assert torch.equal(torch.stack([x, x + 1], 1), torch.stack([x.contiguous(), x.contiguous() + 1], 1))
    deep = torch.ones(2, 3, 4, 5, 6).contiguous(memory_format=torch.channels_last_3d)
    assert torch.cat([deep, deep], 1).is_contiguous(memory_format=torch.channels_last_3d)


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate"])
def test_padding_keeps_channels_last(mode):
    x = channels_last(2, 3, 4, 5)
    out = F.pad(x, (1, 2, 1, 0), mode=mode)
    assert out.is_contiguous(memory_format=torch.channels_last) and torch.equal(out, F.pad(x.contiguous(), (1, 2, 1, 0), mode=mode))
    assert F.pad(x, (-1, -1)).stride() == (36, 1, 9, 3)
    assert F.pad(channels_last(2, 1, 4, 5), (1, 1)).is_contiguous()  # it may be either


def test_resizing_as_another_tensor():
    x = channels_last(2, 3, 4, 5)
    assert torch.ones(2).resize_as_(x, memory_format=torch.preserve_format).stride() == x.stride()
    assert torch.ones(2).resize_as_(x).is_contiguous()
    with pytest.raises(RuntimeError, match="Unsupported memory formatPreserve"):
        torch.ones(2).resize_(2, 3, memory_format=torch.preserve_format)


def test_shapes_of_numbers():
    total = torch.tensor(True).sum_to_size(())
    assert total.dtype == torch.int64 and total.item() == 1
    number = torch.tensor(2.0)
    assert number.sum_to_size(()).data_ptr() != number.data_ptr()


def test_differences_of_order_zero_are_the_input():
    x = torch.tensor([1.0, 4.0, 9.0])
    assert torch.equal(torch.diff(x, 0, 0, x, x), x) and torch.diff(x, 0).data_ptr() != x.data_ptr()
    assert torch.equal(torch.gradient(x, spacing=None)[0], torch.gradient(x)[0])
    assert torch.equal(torch.concatenate((x, x), dim=0), torch.concatenate((x, x), axis=0))


def test_kinds_of_errors():
    with pytest.raises(ValueError, match="step must be nonzero"):
        torch.arange(0, 5.5, 0.5, out=torch.empty(0, dtype=torch.int64))
    with pytest.raises(RuntimeError, match="start must be an 0-dim integral Tensor"):
        torch.ones(3).narrow(0, torch.tensor(1.0), 1)
    with pytest.raises(RuntimeError, match="'weight' must be 2-D"):
        F.embedding(torch.tensor([0]), torch.tensor(1.0))


# ---- matrices ----


@pytest.mark.parametrize("order", ["fro", "nuc", INF, 1, 2])
def test_norms_of_matrices_without_elements(order):
    assert torch.linalg.matrix_norm(torch.ones(0, 0), order).item() == 0
    assert torch.linalg.cond(torch.ones(0, 0), order).item() == 0
    if order not in (INF, 1):
        assert torch.linalg.matrix_norm(torch.ones(2, 3, 0), order).tolist() == [0.0, 0.0]
    assert torch.linalg.matrix_norm(torch.ones(2, 0, 3), INF).tolist() == [0.0, 0.0]
    assert torch.linalg.matrix_norm(torch.ones(2, 3, 0), 1).tolist() == [0.0, 0.0]
    for empty in ((-INF, (0, 3)), (-1, (3, 0)), (-2, (0, 0))):
        with pytest.raises((IndexError, RuntimeError)):
            torch.linalg.matrix_norm(torch.ones(empty[1]), empty[0])


@pytest.mark.parametrize("order", ["fro", INF, -INF, 1, -1])
def test_condition_of_what_is_not_finite(order):
    for bad in ([[NAN, 0.0], [0.0, 1.0]], [[1.0, INF], [0.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]):
        assert torch.linalg.cond(torch.tensor(bad), order).item() == INF
    batch = torch.stack([torch.eye(2), torch.zeros(2, 2)])
    assert math.isfinite(torch.linalg.cond(batch, order)[0].item())


def test_nuclear_condition_of_a_singular_matrix():
    assert torch.linalg.cond(torch.tensor([[1.0, 0.0], [0.0, 0.0]]), "nuc").item() == INF
    assert math.isnan(torch.linalg.cond(torch.zeros(2, 2), "nuc").item())


@pytest.mark.parametrize(
    "norm", [lambda t: t.norm(p="nuc"), lambda t: torch.linalg.matrix_norm(t, "nuc"), torch.linalg.svdvals, lambda t: torch.svd(t)]
)
def test_singular_values_of_what_is_not_finite_are_an_error_of_linear_algebra(norm):
    with pytest.raises(torch.linalg.LinAlgError, match="linalg.svd: The algorithm failed to converge"):
        norm(torch.tensor([[NAN, 1.0], [1.0, 2.0]]))


def test_cholesky_does_not_go_on_after_an_infinity():
    with pytest.raises(torch.linalg.LinAlgError, match="leading minor of order 2"):
        torch.linalg.cholesky(torch.tensor([[INF, 0.0], [0.0, 1.0]]))
    assert torch.linalg.cholesky_ex(torch.diag(torch.tensor([1.0, INF, 1.0]))).info.item() == 3


def test_bools_are_clamped_by_one_tensor_and_not_by_two():
    x, bound = torch.tensor([True, False]), torch.tensor([False, True])
    assert torch.clamp(x, min=bound).tolist() == [True, True] and torch.clip(x, max=bound).tolist() == [False, False]
    assert x.clone().clamp_(max=bound).tolist() == [False, False]
    with pytest.raises(NotImplementedError, match="\"clamp_cpu\" not implemented for 'Bool'"):
        torch.clamp(x, bound, bound)


def test_the_inverse_of_the_normal_distribution():
    """Against Python's own, of which PyTorch's differs by some 1e-15; in the tails and around 1/2, where digits are easily lost."""
    inverse = statistics.NormalDist().inv_cdf
    points = [1e-300, 1e-17, 1e-9, 1e-3, 0.0749, 0.075, 0.2, 0.49, 0.5 - 1e-12, 0.5, 0.5 + 1e-12, 0.8, 0.925, 0.9251, 0.999, 1 - 1e-12]
    found = torch.special.ndtri(torch.tensor(points, dtype=torch.float64))
    torch.testing.assert_close(found, torch.tensor([inverse(p) for p in points], dtype=torch.float64), rtol=1e-15, atol=0)
    torch.testing.assert_close(torch.special.ndtr(found[1:]), torch.tensor(points[1:], dtype=torch.float64), rtol=3e-14, atol=0)
    edges = torch.special.ndtri(torch.tensor([0.0, 1.0, -0.1, 1.1, math.nan], dtype=torch.float64))
    assert edges[:2].tolist() == [-math.inf, math.inf] and edges[2:].isnan().all()


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("f", [torch.softmax, torch.log_softmax])
def test_softmax_of_few_columns(f, dim):
    """Columns that lie side by side, too few for a tile, are lanes of a vector; those of the transposed matrix are lines."""
    for rows, columns in ((1, 3), (5, 7), (64, 2), (65, 2), (4, 4)):
        x = (torch.arange(3.0 * rows * columns).reshape(3, rows, columns) * 0.7).sin() * 30
        x[1, 0, -1] = -math.inf
        x[2, 0, 0] = math.nan
        torch.testing.assert_close(f(x, dim + 1), f(x.mT.contiguous(), 2 - dim).mT, equal_nan=True, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_signs_of_all_16_bit_floats(dtype):
    """They are taken from the bits; in float the same numbers come out, of rows that are dense and of others."""
    x = torch.arange(-32768, 32768).to(torch.int16).view(dtype)
    for y, wide in ((x, x.float()), (x[1::3], x.float()[1::3])):
        for f in (torch.neg, torch.abs, lambda t: t.copysign(-1.0), lambda t: t.copysign(1), lambda t: t.copysign(t.flip(0))):
            torch.testing.assert_close(f(y), f(wide).to(dtype), rtol=0, atol=0, equal_nan=True)
            numbers = ~wide.isnan()
            assert torch.equal(f(y)[numbers].signbit(), f(wide)[numbers].signbit())


@pytest.mark.parametrize("n", [2, 3, 9, 10, 11, 15])
def test_polygamma_in_float_as_in_double(n):
    x = torch.cat([torch.linspace(0.3, 9, 50), torch.linspace(10, 60, 20)]).double()
    torch.testing.assert_close(torch.polygamma(n, x.float()).double(), torch.polygamma(n, x.float().double()), rtol=1e-6, atol=0)
    factorial, zeta = math.gamma(n + 1), torch.special.zeta(torch.tensor(n + 1.0, dtype=torch.float64), 1.0)
    torch.testing.assert_close(
        torch.polygamma(n, torch.ones(1, dtype=torch.float64))[0], (-1) ** (n + 1) * factorial * zeta, rtol=1e-13, atol=0
    )
