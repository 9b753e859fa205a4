"""The first thing to run: a few seconds that touch the whole stack."""

import math

import pytest

import retrograd as torch


@pytest.mark.on_cpu("it names the device in what it expects")
def test_tensor():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.shape == (2, 2)
    assert x.dtype is torch.float32
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert repr(x) == "tensor([[1., 2.],\n        [3., 4.]])"


def test_ops():
    x = torch.arange(6).reshape(2, 3)
    assert (x * 2 + 1).tolist() == [[1, 3, 5], [7, 9, 11]]
    assert (x @ x.T).tolist() == [[5, 14], [14, 50]]
    assert x.float().mean().item() == 2.5
    assert (x > 2).sum() == 3


def test_backward():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x.exp() * x).sum()
    y.backward()
    assert x.grad.tolist() == pytest.approx([2 * math.e, 3 * math.e**2])
    assert y.grad_fn.name() == "SumBackward0"


def test_second_derivative():
    x = torch.tensor(0.5, requires_grad=True)
    (first,) = torch.autograd.grad(x.sin(), x, create_graph=True)
    first.backward()
    assert x.grad.item() == pytest.approx(-math.sin(0.5))


def test_no_grad():
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad


def test_in_place_changes_are_noticed():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        y.sum().backward()


def test_indexing():
    x = torch.zeros(3, 4)
    x[1, 1:3] = 5
    x[:, -1] = torch.tensor([1.0, 2.0, 3.0])
    assert x[1].tolist() == [0, 5, 5, 2]
    assert x[x > 2].tolist() == [5, 5, 3]
    assert x[[0, 2], 3].tolist() == [1, 3]


def test_bad_shapes():
    with pytest.raises(RuntimeError, match=r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)"):
        torch.ones(2, 3) @ torch.ones(4, 5)


def test_training_by_hand_learns():
    """Two layers and SGD learn a parabola."""
    torch.manual_seed(0)
    x = torch.linspace(-1, 1, 32).reshape(-1, 1)
    target = x * x
    weights = [torch.randn(1, 16) * 0.5, torch.zeros(16), torch.randn(16, 1) * 0.3, torch.zeros(1)]
    for w in weights:
        w.requires_grad_()

    def step():
        a, b, c, d = weights
        loss = ((torch.tanh(x @ a + b) @ c + d - target) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for w in weights:
                w -= 0.2 * w.grad
                w.grad = None
        return loss.item()

    losses = [step() for _ in range(300)]
    assert losses[-1] < losses[0] / 20
