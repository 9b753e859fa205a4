"""What the table's samples cannot say about reductions: ties, NaN, zeros, overloads, node names, layouts, out=."""

from __future__ import annotations

import math

import pytest

import retrograd as torch

NAN, INF = float("nan"), float("inf")


def grad_of(f, values):
    x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad(f(x).sum(), x)
    return g


# ---- overloads, names, dtypes ----


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda x: x.sum(), "SumBackward0"),
        (lambda x: x.sum(0), "SumBackward1"),
        (lambda x: x.sum(dim=(0, 1)), "SumBackward1"),
        (lambda x: x.mean(), "MeanBackward0"),
        (lambda x: x.mean(-1, keepdim=True), "MeanBackward1"),
        (lambda x: x.prod(), "ProdBackward0"),
        (lambda x: x.prod(1), "ProdBackward1"),
        (lambda x: x.max(), "MaxBackward1"),
        (lambda x: x.max(0).values, "MaxBackward0"),
        (lambda x: x.max(x), "MaximumBackward0"),
        (lambda x: x.min(), "MinBackward1"),
        (lambda x: x.min(0)[0], "MinBackward0"),
        (lambda x: x.var(), "VarBackward0"),
        (lambda x: x.var(0, keepdim=True), "VarBackward0"),
        (lambda x: x.std(dim=1, correction=0), "StdBackward0"),
        (lambda x: torch.var_mean(x)[1], "VarMeanBackward0"),
        (lambda x: torch.std_mean(x, 0)[0], "StdMeanBackward0"),
        (lambda x: x.norm(), "LinalgVectorNormBackward0"),
        (lambda x: x.norm(1, dim=0), "LinalgVectorNormBackward0"),
        (lambda x: x.softmax(-1), "SoftmaxBackward0"),
        (lambda x: x.log_softmax(0), "LogSoftmaxBackward0"),
        (lambda x: x.sort().values, "SortBackward0"),
        (lambda x: x.sort(stable=True).values, "SortBackward1"),
        (lambda x: x.median(), "MedianBackward0"),
        (lambda x: x.median(0).values, "MedianBackward1"),
        (lambda x: torch.cdist(x, 2 * x), "CdistBackward0"),
        (lambda x: x.unique(), "Unique2Backward0"),
    ],
)
def test_node_names(f, name):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    assert f(x).grad_fn.name() == name


def test_integer_sums_are_int64_and_floats_keep_their_dtype():
    for dtype in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
        x = torch.ones(3, dtype=dtype)
        assert x.sum().dtype == x.prod().dtype == x.cumsum(0).dtype == torch.int64
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        x = torch.ones(3, dtype=dtype)
        assert x.sum().dtype == x.mean().dtype == x.std().dtype == x.softmax(0).dtype == dtype
    assert torch.full((300,), 1, dtype=torch.int8).sum().item() == 300
    assert torch.ones(3).sum(dtype=torch.bool).item() is True


def test_a_dtype_argument_converts_first_and_its_gradient_comes_back():
    x = torch.tensor([1.5, 2.5], requires_grad=True)
    for f in (
        lambda: x.sum(dtype=torch.float64),
        lambda: x.mean(0, dtype=torch.float64),
        lambda: x.softmax(0, dtype=torch.float64)[0],
        lambda: x.cumsum(0, dtype=torch.float64).sum(),
        lambda: x.cumprod(0, dtype=torch.float64).sum(),
        lambda: x.norm(dtype=torch.float64),
    ):
        y = f()
        assert y.dtype == torch.float64
        (g,) = torch.autograd.grad(y, x)
        assert g.dtype == torch.float32
    assert torch.tensor([1, 2]).softmax(0, dtype=torch.float32).dtype == torch.float32


def test_results_with_names():
    x = torch.tensor([[3.0, 1.0], [2.0, 4.0]])
    found = x.max(1)
    assert type(found).__name__ == "max"
    assert found.values.tolist() == [3, 4] and found.indices.tolist() == [0, 1]
    values, indices = torch.topk(x, 1)
    assert values.tolist() == [[3], [4]] and indices.tolist() == [[0], [1]]
    low, high = torch.aminmax(x)
    assert (low.item(), high.item()) == (1, 4)
    assert type(torch.var_mean(x)) is tuple


def test_numpy_names_of_arguments():
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.sum(x, axis=0, keepdims=True).tolist() == [[3, 5, 7]]
    assert x.max(axis=1).values.tolist() == [2, 5]


# ---- ties, NaN, zeros ----


@pytest.mark.told("nan_origin", why="what goes in")
def test_extrema_without_an_index_share_the_gradient():
    for f in (torch.max, torch.amax, lambda x: torch.aminmax(x).max, torch.median, lambda x: x.norm(INF)):
        assert torch.allclose(grad_of(f, [2, 2, 1, 2]), torch.tensor([1, 1, 0, 1], dtype=torch.float64) / 3)
    assert grad_of(torch.max, [NAN, 1, NAN]).tolist() == [0.5, 0, 0.5]
    assert grad_of(torch.nanmedian, [NAN, 1, NAN]).tolist() == [0, 1, 0]


def test_extrema_with_an_index_give_it_to_the_first():
    assert grad_of(lambda x: x.max(0).values, [2, 2, 1, 2]).tolist() == [1, 0, 0, 0]
    assert torch.tensor([2, 2, 1, 2]).argmax().item() == 0
    assert torch.tensor([1, NAN, 3, NAN]).argmax().item() == 1
    assert torch.tensor([1, NAN, 3]).max(0).indices.item() == 1
    assert grad_of(lambda x: x.cummax(0).values, [2, 2, 1, 2]).tolist() == [1, 2, 0, 1]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_extrema_meet_a_nan_anywhere(dtype):
    x = torch.arange(301.0, dtype=dtype) - 150
    assert (x.amax(), x.amin(), *x.aminmax()) == (150, -150, -150, 150)
    for place in (0, 31, 32, 130, 255, 256, 300):
        y = x.clone()
        y[place] = NAN
        assert all(math.isnan(value) for value in (y.amax(), y.amin(), *y.aminmax()))
        assert y[:place].amax() == x[place - 1] if place else True


@pytest.mark.parametrize("f", [torch.any, torch.all])
def test_truth_over_no_dims_is_that_of_each_element(f):
    for numbers in ([0.0, -0.0, 1e-300, NAN, INF], [0, 256, -1], [0j, 1j, complex(0, NAN)]):
        x = torch.tensor(numbers, dtype=torch.float64 if isinstance(numbers[0], float) else None)
        assert f(x, dim=()).tolist() == [bool(v) for v in numbers] == f(x[:, None], dim=(), keepdim=True)[:, 0].tolist()
    assert f(torch.tensor([0, 200], dtype=torch.uint8), dim=()).dtype == torch.uint8
    assert f(torch.tensor([0, 200], dtype=torch.uint8), dim=()).tolist() == [0, 1]


def test_nan_in_reductions():
    x = torch.tensor([1.0, NAN, 3.0])
    assert math.isnan(x.max()) and math.isnan(x.min()) and math.isnan(x.amax()) and math.isnan(x.median())
    assert x.nansum().item() == 4 and x.nanmean().item() == 2 and x.nanmedian().item() == 1
    assert math.isnan(x.quantile(0.5)) and x.nanquantile(0.5).item() == 2
    assert x.sort().indices.tolist() == [0, 2, 1] and x.any()
    assert grad_of(torch.nansum, [1, NAN, 3]).tolist() == [1, 0, 1]


def test_products_with_zeros_have_derivatives_of_every_order():
    assert grad_of(torch.prod, [2, 0, 3]).tolist() == [0, 6, 0]
    assert grad_of(torch.prod, [0, 0, 3]).tolist() == [0, 0, 0]
    x = torch.tensor([0.0, 0.0, 3.0], dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad(x.prod(), x, create_graph=True)
    (second,) = torch.autograd.grad(g[0], x)
    assert second.tolist() == [0, 3, 0]
    # d/dx of the sum of running products at a zero
    assert grad_of(lambda x: x.cumprod(0), [2, 0, 3, 4]).tolist() == [1, 2 * (1 + 3 + 12), 0, 0]


def test_norm_and_deviation_of_zero_have_derivative_zero():
    for f in (
        torch.norm,
        torch.std,
        lambda x: x.norm(0.5),
        lambda x: x.norm(3),
        lambda x: torch.dist(x, torch.zeros(3, dtype=torch.float64)),
    ):
        assert grad_of(f, [0, 0, 0]).tolist() == [0, 0, 0]


@pytest.mark.told("nan_origin", why="what goes in")
def test_logcumsumexp_gradient_does_not_overflow():
    g = grad_of(lambda x: x.logcumsumexp(0), [1000.0, -1000.0, 1000.0])
    assert torch.allclose(g, torch.tensor([2.5, 0, 0.5], dtype=torch.float64))
    assert grad_of(lambda x: x.logcumsumexp(0), [-INF, 0.0]).tolist() == [0, 1]


def test_softmax_at_infinities():
    assert torch.tensor([0.0, -INF]).softmax(0).tolist() == [1, 0]
    assert all(math.isnan(v) for v in torch.tensor([-INF, -INF]).softmax(0).tolist())
    assert torch.tensor([-INF, -INF]).logsumexp(0).item() == -INF
    assert torch.tensor([INF, 0.0]).logsumexp(0).item() == INF


# ---- shapes and layouts ----


def test_empty_reductions():
    e = torch.empty(0)
    assert e.sum().item() == 0 and e.prod().item() == 1 and math.isnan(e.mean()) and not e.any() and e.all() and e.norm().item() == 0
    assert torch.empty(2, 0).sum(1).tolist() == [0, 0]
    assert torch.empty(2, 0).max(0).values.shape == (0,)
    assert math.isnan(e.median())


def test_an_empty_list_of_dims():
    x = torch.arange(6.0).reshape(2, 3)
    assert x.sum(()).item() == x.sum(dim=None).item() == x.mean([]).item() * 6 == 15
    assert x.any(()).shape == (2, 3)  # unlike the others


def test_permuted_and_expanded_inputs():
    x = torch.arange(24.0).reshape(2, 3, 4)
    p = x.permute(2, 0, 1)
    assert p.sum(0).tolist() == x.sum(2).tolist()
    assert p.amax((0, 2)).tolist() == x.amax((1, 2)).tolist()
    assert p.argmax().item() == p.contiguous().argmax().item()
    e = torch.arange(3.0).reshape(3, 1).expand(3, 5)
    assert e.sum(1).tolist() == [0, 5, 10] and e.var().item() == pytest.approx(e.contiguous().var().item())
    assert e.cumsum(1)[2].tolist() == [2, 4, 6, 8, 10]


def test_reductions_write_into_out():
    x = torch.arange(6.0).reshape(2, 3)
    out = torch.empty(3)
    assert torch.sum(x, 0, out=out) is out and out.tolist() == [3, 5, 7]
    values, indices = torch.empty(2), torch.empty(2, dtype=torch.int64)
    torch.max(x, 1, out=(values, indices))
    assert values.tolist() == [2, 5] and indices.tolist() == [2, 2]


def test_in_place_scans():
    x = torch.tensor([1.0, 2.0, 3.0])
    assert x.cumsum_(0) is x and x.tolist() == [1, 3, 6]
    y = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    z = y * 1
    z.cumprod_(0)
    assert torch.autograd.grad(z.sum(), y)[0].tolist() == [9, 4, 2]


def test_gradient_of_sum_is_a_view_of_one_number():
    x = torch.ones(1000, 1000, requires_grad=True)
    (g,) = torch.autograd.grad(x.sum(), x)
    assert g.shape == (1000, 1000) and g.sum().item() == 1e6


# ---- counting ----


def test_unique_has_no_derivative():
    x = torch.tensor([1.0, 2.0, 1.0], requires_grad=True)
    with pytest.raises(NotImplementedError, match="the derivative for '_unique2' is not implemented"):
        x.unique().sum().backward()


def test_unique_returns_what_was_asked_for():
    x = torch.tensor([[3, 1], [1, 3]])
    assert torch.unique(x).tolist() == [1, 3]
    values, inverse = x.unique(return_inverse=True)
    assert values[inverse].tolist() == x.tolist()
    values, counts = x.unique(return_counts=True)
    assert counts.tolist() == [2, 2]
    values, inverse, counts = torch.unique(torch.tensor([[2, 1], [0, 5], [2, 1]]), return_inverse=True, return_counts=True, dim=0)
    assert values.tolist() == [[0, 5], [2, 1]] and inverse.tolist() == [1, 0, 1] and counts.tolist() == [1, 2]
    assert torch.unique_consecutive(torch.tensor([1, 1, 2, 2, 1])).tolist() == [1, 2, 1]


def test_weights_of_bincount_have_a_derivative():
    w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    counts = torch.bincount(torch.tensor([1, 0, 1]), w)
    assert counts.tolist() == [2, 4]
    assert torch.autograd.grad((counts * torch.tensor([10.0, 20.0])).sum(), w)[0].tolist() == [20, 10, 20]


def test_histogram():
    hist, edges = torch.histogram(torch.tensor([0.0, 1.0, 1.0, 2.0]), 2)
    assert hist.tolist() == [1, 3] and edges.tolist() == [0, 1, 2]
    found = torch.histogram(torch.tensor([0.5, 1.5, 5.0]), torch.tensor([0.0, 1.0, 2.0]), density=True)
    assert found.hist.tolist() == [0.5, 0.5] and found.bin_edges.tolist() == [0, 1, 2]


def test_equal_compares_sizes_and_elements():
    assert torch.equal(torch.tensor([1, 2]), torch.tensor([1.0, 2.0]))
    assert not torch.equal(torch.tensor([1, 2]), torch.tensor([1, 3])) and not torch.equal(torch.ones(2), torch.ones(1, 2))
    assert not torch.equal(torch.tensor(NAN), torch.tensor(NAN))
