"""ctc_loss: derivatives of any order, forward mode, against the sum over all alignments."""

import itertools
import math

import pytest

import retrograd as torch
from retrograd.autograd import gradcheck, gradgradcheck

F = torch.nn.functional
CASES = [
    (torch.tensor([[1, 2], [3, 3]]), (6, 5), (2, 2), 0, False),
    (torch.tensor([1, 2, 3]), (6, 4), (2, 1), 0, False),
    (torch.tensor([[1, 2], [0, 1]]), (4, 6), (2, 1), 3, True),
    (torch.tensor([[1, 2], [3, 3]]), (1, 5), (2, 2), 0, True),
    (torch.zeros(2, 0, dtype=torch.long), (6, 3), (0, 0), 0, False),
]


def loss_of(case):
    targets, lengths, sizes, blank, zero_infinity = case
    return lambda x: F.ctc_loss(x.log_softmax(2), targets, lengths, sizes, blank, "none", zero_infinity)


@pytest.mark.parametrize("case", CASES)
def test_derivatives(case):
    x = torch.randn(6, 2, 4, dtype=torch.float64, requires_grad=True)
    assert gradcheck(loss_of(case), (x,), check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(loss_of(case), (x,))


@pytest.mark.parametrize("case", CASES)
def test_both_ways_to_the_gradient(case):
    """The kernel, and the ops that are differentiated again."""
    x = torch.randn(6, 2, 4, dtype=torch.float64).log_softmax(2).requires_grad_()
    targets, lengths, sizes, blank, zero_infinity = case
    loss = F.ctc_loss(x, targets, lengths, sizes, blank, "none", zero_infinity)
    by_kernel = torch.autograd.grad(loss.sum(), x, retain_graph=True)[0]
    by_ops = torch.autograd.grad(loss.sum(), x, create_graph=True)[0]
    torch.testing.assert_close(by_ops.detach(), by_kernel, rtol=1e-9, atol=1e-12)


def spelled(path, blank):
    return [label for label, _ in itertools.groupby(path) if label != blank]


@pytest.mark.parametrize("target", [[], [1], [1, 2], [2, 2], [1, 2, 1]])
def test_it_is_the_sum_over_alignments(target):
    log_probs = torch.randn(5, 3, dtype=torch.float64).log_softmax(1)
    probs = log_probs.exp().tolist()
    likelihood = sum(
        math.prod(probs[t][c] for t, c in enumerate(path)) for path in itertools.product(range(3), repeat=5) if spelled(path, 0) == target
    )
    loss = F.ctc_loss(log_probs, torch.tensor(target, dtype=torch.long), (5,), (len(target),), reduction="sum")
    assert loss.item() == pytest.approx(-math.log(likelihood))


def test_classes_that_never_come():
    x = torch.randn(6, 2, 4, dtype=torch.float64).log_softmax(2)
    x[:, :, 3] = -math.inf
    x.requires_grad_()
    loss = F.ctc_loss(x, torch.tensor([[1, 2], [2, 3]]), (6, 6), (2, 2), reduction="none", zero_infinity=True)
    assert loss[1] == 0
    for create_graph in (False, True):
        (grad,) = torch.autograd.grad(loss.sum(), x, create_graph=create_graph, retain_graph=True)
        assert not grad.isnan().any() and not grad[:, 1].any()


def test_a_long_sequence():
    """300 frames of 30 labels: in float32, with threads, as in float64."""
    torch.manual_seed(1)
    x = torch.randn(300, 8, 40)
    targets = torch.randint(1, 40, (8, 30))
    found = []
    for dtype in (torch.float32, torch.float64):
        given = x.to(dtype).detach().requires_grad_()
        loss = F.ctc_loss(given.log_softmax(2), targets, (300,) * 8, (30,) * 8)
        loss.backward()
        found.append((loss.detach().double(), given.grad.double()))
    torch.testing.assert_close(found[0][0], found[1][0], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(found[0][1], found[1][1], rtol=1e-3, atol=1e-6)


def test_labels_are_checked_before_anything_is_read():
    x = torch.zeros(3, 1, 4).log_softmax(2)
    with pytest.raises(RuntimeError, match="ctc_loss: target 9 is out of bounds: labels are from 0 to 3"):
        F.ctc_loss(x, torch.tensor([[9]]), (3,), (1,))
    F.ctc_loss(x, torch.tensor([[1, 9]]), (3,), (1,))  # it does not count
