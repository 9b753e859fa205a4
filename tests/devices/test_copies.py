"""Copies to, from and on another device."""

import pickle

import pytest

import retrograd as torch
from tests.devices.guarded import DEVICE, watched

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int8, torch.uint8, torch.bool, torch.complex64]
DTYPES += [torch.uint16, torch.uint64, torch.float8_e4m3fn]


@pytest.fixture(autouse=True)
def _no_touch():
    with watched() as faults:
        yield
    assert not faults


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_there_and_back(dtype):
    x = (torch.arange(24).reshape(2, 3, 4) % 5).to(dtype)
    for view in (x, x.transpose(0, 2), x[:, 1], x[1, 2, 3], x[:0], x.expand(2, 2, 3, 4)):
        there = view.to(DEVICE)
        assert there.device == DEVICE and there.dtype == dtype and there.shape == view.shape
        assert there.stride() == view.clone().stride()
        assert there.cpu().tolist() == view.tolist() == there.tolist()


@pytest.mark.parametrize("source", ["cpu", "guarded"])
def test_copy_converts_and_broadcasts(source):
    target = "guarded" if source == "cpu" else "cpu"
    x = torch.tensor([1.5, -2.5, 3.0], device=source)
    y = torch.zeros(2, 3, dtype=torch.int32, device=target)
    assert y.copy_(x).tolist() == [[1, -2, 3]] * 2
    z = torch.zeros(3, 2, device=target).t()
    assert z.copy_(x).tolist() == [[1.5, -2.5, 3.0]] * 2


def test_lazy_conjugation_survives():
    x = torch.tensor([1 + 2j, 3 - 1j])
    assert x.to(DEVICE).conj().cpu().tolist() == x.conj().tolist() == x.conj().to(DEVICE).tolist()
    assert x.conj().imag.to(DEVICE).tolist() == [-2.0, 1.0]


def test_gradient_comes_back_to_its_device():
    x = torch.ones(3, requires_grad=True)
    (x.to(DEVICE) * 2).sum().backward()
    assert x.grad.device.type == "cpu" and x.grad.tolist() == [2.0] * 3


def test_values_are_read():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], device=DEVICE)
    assert x[1, 0].item() == 3.0 and bool(x.sum() > 9) and float(x[0, 1]) == 2.0 and int(x[0, 0]) == 1
    assert "device='guarded'" in repr(x) and "3." in repr(x)
    assert torch.tensor(x).tolist() == x.tolist()
    assert pickle.loads(pickle.dumps(x)).tolist() == x.tolist()


def test_devices_do_not_mix():
    x, y = torch.ones(2), torch.ones(2, device=DEVICE)
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        x + y
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        torch.mm(torch.ones(2, 2), torch.ones(2, 2, device=DEVICE))
    assert (y * torch.tensor(3.0)).tolist() == [3.0, 3.0]  # a CPU scalar goes with any device


def test_resizing_and_storage():
    x = torch.arange(6.0).to(DEVICE)
    x.resize_(3, 4)
    assert x.flatten()[:6].tolist() == [0, 1, 2, 3, 4, 5]
    y = torch.zeros(0, device=DEVICE)
    torch.add(torch.ones(2, device=DEVICE), 1, out=y)
    assert y.tolist() == [2.0, 2.0]


def test_state_of_a_generator_is_on_the_cpu():
    state = torch.get_rng_state()
    with pytest.raises(TypeError, match=r"RNG state must be a torch\.ByteTensor"):
        torch.set_rng_state(state.to(DEVICE))
