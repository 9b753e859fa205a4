"""Whole steps of training on the guarded device: the CPU's bits in every parameter, and no element touched outside a kernel."""

import io

import pytest

import retrograd as torch
import retrograd.nn.functional as F
from retrograd import nn
from retrograd.utils.checkpoint import checkpoint
from tests.devices.guarded import DEVICE, watched


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 8)
        self.norm = nn.LayerNorm(8)
        self.hidden = nn.Linear(8, 16)
        self.out = nn.Linear(16, 5)

    def forward(self, x, keep):
        h = self.norm(self.embed(x)).mean(1)
        h = checkpoint(lambda t: torch.tanh(self.hidden(t)), h, use_reentrant=False)
        h = F.dropout(h, 0.25, training=True)
        return self.out(h[keep])


def _steps(device, make, steps=3):
    """Parameters, gradients and losses of some steps."""
    torch.manual_seed(3)
    model = Model().to(device)
    optimizer = make(model.parameters())
    x = torch.randint(0, 11, (6, 4)).to(device)
    target, keep = torch.tensor([1, 0, 4, 2]).to(device), torch.tensor([0, 2, 3, 5]).to(device)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x, keep), target, label_smoothing=0.1)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        losses.append(loss.item())
    return [losses, *([p.tolist(), p.grad.tolist()] for p in model.parameters())], model, optimizer


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=1e-2, nesterov=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.5),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps(name):
    expected, _, _ = _steps("cpu", OPTIMIZERS[name])
    with watched() as faults:
        actual, model, _ = _steps(DEVICE, OPTIMIZERS[name])
    assert all(p.device == DEVICE and p.grad.device == DEVICE for p in model.parameters())
    assert actual == expected
    assert not faults


def test_save_and_load():
    with watched() as faults:
        _, model, optimizer = _steps(DEVICE, OPTIMIZERS["adam"], steps=1)
        file = io.BytesIO()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
        file.seek(0)
        there = torch.load(file)
        file.seek(0)
        here = torch.load(file, map_location="cpu")
    assert not faults
    for name, value in model.state_dict().items():
        assert there["model"][name].device == DEVICE and here["model"][name].device.type == "cpu"
        assert there["model"][name].tolist() == here["model"][name].tolist() == value.tolist()


def test_double_backward_and_hooks():
    def grads(device):
        torch.manual_seed(0)
        x = torch.randn(4, 3).to(device).requires_grad_()
        w = torch.randn(3, 2).to(device).requires_grad_()
        w.register_hook(lambda g: g * 2)
        y = torch.softmax(x @ w, 1).pow(2).sum()
        (gx,) = torch.autograd.grad(y, x, create_graph=True)
        (gx.square().sum() + y).backward()
        return [t.tolist() for t in (gx, x.grad, w.grad)]

    expected = grads("cpu")
    with watched() as faults:
        assert grads(DEVICE) == expected
    assert not faults


def test_writes_to_saved_tensors_are_noticed():
    x = torch.ones(3, device=DEVICE, requires_grad=True)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    a = torch.ones(3, device=DEVICE, requires_grad=True)
    b = a * 2
    c = b * b
    b.data.mul_(1)  # unseen, and it changes nothing
    c.sum().backward()
    assert a.grad.tolist() == [8.0] * 3


def test_anomaly_reads_through_the_seam():
    x = torch.zeros(2, device=DEVICE, requires_grad=True)
    with watched() as faults, torch.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="nan"), pytest.warns(UserWarning):
        (x / x).sum().backward()
    assert not faults
