"""segment_reduce and histogramdd, where the table cannot say it: ties, zeros, segments past the end, where PyTorch reads what is there."""

import pytest

import retrograd as torch


def grad_of(reduce, values, **options):
    x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    return torch.autograd.grad(torch.segment_reduce(x, reduce, lengths=torch.tensor([len(values)]), **options).sum(), x)[0].tolist()


def test_ties_share_the_gradient():
    assert grad_of("max", [2.0, 2.0, 1.0]) == [0.5, 0.5, 0.0]
    assert grad_of("min", [2.0, 1.0, 1.0]) == [0.0, 0.5, 0.5]


def test_an_initial_value_takes_the_gradient_when_it_wins():
    assert grad_of("max", [5.0, 2.0, 3.0], initial=7.0) == [0.0, 0.0, 0.0]
    assert grad_of("max", [5.0, 2.0, 3.0], initial=5.0) == [1.0, 0.0, 0.0]


def test_products_with_zeros():
    assert grad_of("prod", [0.0, 2.0, 3.0]) == [6.0, 0.0, 0.0]
    assert grad_of("prod", [0.0, 2.0, 0.0]) == [0.0, 0.0, 0.0]


def test_empty_segments():
    x = torch.tensor([1.0, 2.0])
    lengths = torch.tensor([0, 2])
    found = {r: torch.segment_reduce(x, r, lengths=lengths)[0].item() for r in ("sum", "max", "min", "prod")}
    assert found == {"sum": 0.0, "max": -float("inf"), "min": float("inf"), "prod": 1.0}
    assert torch.segment_reduce(x, "mean", lengths=lengths).isnan().tolist() == [True, False]
    assert torch.segment_reduce(x, "mean", lengths=lengths, initial=3.0).tolist() == [3.0, 3.0]


def test_nan_is_kept():
    x = torch.tensor([float("nan"), 2.0])
    for reduce in ("sum", "mean", "max", "min", "prod"):
        assert torch.segment_reduce(x, reduce, lengths=torch.tensor([2])).isnan().all()
        assert torch.segment_reduce(x, reduce, lengths=torch.tensor([2]), initial=1.0).isnan().all()


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
def test_second_derivatives(reduce):
    x = torch.tensor([[1.0, -2.0], [0.5, 3.0], [2.0, 1.5], [-1.0, 0.7]], dtype=torch.float64, requires_grad=True)
    f = lambda t: torch.segment_reduce(t, reduce, lengths=torch.tensor([3, 1])) ** 2
    assert torch.autograd.gradgradcheck(f, (x,))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lengths": [9], "unsafe": True}, "lengths go past the 6 elements of dimension 0"),
        ({"offsets": [0, 3, 9]}, "offsets go past the 6 elements of dimension 0"),
        ({"offsets": [-1, 3, 6]}, "offsets go past the 6 elements of dimension 0"),
        ({"offsets": [3, 2]}, "Expected segment_length >= 0"),
        ({"lengths": [2**62, 2**62]}, "Expected all rows of lengths|go past"),
    ],
)
def test_segments_past_the_end(options, words):
    options = {k: torch.tensor(v) if isinstance(v, list) else v for k, v in options.items()}
    with pytest.raises(RuntimeError, match=words):
        torch.segment_reduce(torch.ones(6), "sum", **options)


def test_histogramdd_is_histogram_in_one_dimension():
    x = torch.tensor([0.1, 0.4, 0.4, 0.9, 1.0])
    both = torch.histogramdd(x.unsqueeze(1), [4]), torch.histogram(x, 4)
    assert torch.equal(both[0].hist, both[1].hist)
    assert torch.equal(both[0].bin_edges[0], both[1].bin_edges)


def test_histogramdd_leaves_out_what_is_outside():
    x = torch.tensor([[0.5, 0.5], [1.0, 1.0], [1.5, 0.5], [0.5, -0.1], [float("nan"), 0.5]])
    assert torch.histogramdd(x, [1, 1], range=[0, 1, 0, 1]).hist.tolist() == [[2.0]]
