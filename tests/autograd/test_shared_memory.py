"""Writes through NumPy arrays and DLPack capsules after a tensor was saved for backward."""

import os
import subprocess
import sys

import pytest

import retrograd as torch
from retrograd import doctor

np = pytest.importorskip("numpy")

LARGE = doctor.MEMORY_CHECK_BYTES // 4 + 1  # float32 elements, just past what is checked by default
WRITTEN = "modified by an inplace operation: .* was written from outside, through a NumPy array or DLPack capsule"


def leaf(n=4):
    return torch.ones(n, requires_grad=True)


def test_from_numpy():
    array = np.ones(4, dtype=np.float32)
    loss = (leaf() * torch.from_numpy(array)).sum()
    array[2] = 7
    with pytest.raises(RuntimeError, match=WRITTEN) as error:
        loss.backward()
    assert "test_shared_memory.py:" in str(error.value) and "MulBackward0" in str(error.value)


def test_handed_out_before_it_was_saved():
    data = torch.ones(4)
    array = data.numpy()
    loss = (leaf() * data).sum()
    array += 1
    with pytest.raises(RuntimeError, match=WRITTEN):
        loss.backward()


def test_handed_out_after_it_was_saved():
    data = torch.ones(4)
    loss = (leaf() * data).sum()
    data.numpy()[0] = 3
    with pytest.raises(RuntimeError, match=WRITTEN):
        loss.backward()


def test_an_output_that_was_saved():
    y = leaf().exp()
    y.detach().numpy()[1] = 0
    with pytest.raises(RuntimeError, match=WRITTEN):
        y.sum().backward()


def test_dlpack():
    data = torch.ones(4)
    loss = (leaf() * data).sum()
    np.from_dlpack(data)  # NumPy makes it read-only; the memory is handed out all the same
    view = np.ctypeslib.as_array((np.ctypeslib.ctypes.c_float * 4).from_address(data.data_ptr()))
    view[3] = -1
    with pytest.raises(RuntimeError, match=WRITTEN):
        loss.backward()


def test_buffer_protocol():
    data = torch.ones(4)
    loss = (leaf() * data).sum()
    memoryview(data).cast("B").cast("f")[0] = 2.0
    with pytest.raises(RuntimeError, match=WRITTEN):
        loss.backward()


def test_a_view_of_a_large_array():
    array = np.zeros((1000, 1000), dtype=np.float32)
    row = torch.from_numpy(array)[5, ::2]
    weights = leaf(500)
    loss = (weights * row).sum()
    array[6] = 1  # not what was saved
    array[5, 1::2] = 1
    loss.backward()
    loss = (weights * row).sum()
    array[5, 998] = 1
    with pytest.raises(RuntimeError, match=WRITTEN):
        loss.backward()


def test_custom_function():
    class Times(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(y)
            return x * y

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0], None

    array = np.ones(4, dtype=np.float32)
    out = Times.apply(leaf(), torch.from_numpy(array))
    array[0] = 2
    with pytest.raises(RuntimeError, match=WRITTEN):
        out.sum().backward()


def test_writes_that_are_fine():
    array = np.ones(4, dtype=np.float32)
    data, weights = torch.from_numpy(array), leaf()
    (weights * data).sum().backward()
    array[:] = 2  # after backward
    (weights * data).sum().backward()
    assert weights.grad.tolist() == [3.0] * 4
    (weights + data).sum().backward(retain_graph=True)
    array[0] = 5  # add saves nothing
    data.add_(1)  # a visible write, and no node in between
    (weights * data).sum().backward()
    y = weights.exp()
    y.detach().numpy()  # only looked at
    y.sum().backward()


def test_a_visible_write_is_reported_as_such():
    array = np.ones(4, dtype=np.float32)
    data = torch.from_numpy(array)
    loss = (leaf() * data).sum()
    data.add_(1)
    with pytest.raises(RuntimeError, match=r"is at version 1; expected version 0 instead"):
        loss.backward()


def _large():
    array = np.ones(LARGE, dtype=np.float32)
    loss = (leaf(LARGE) * torch.from_numpy(array)).sum()
    array[-1] = 9
    return loss


def test_large_memory_is_checked_in_strict_mode():
    _large().backward()
    with doctor.strict():
        assert doctor.is_strict()
        with pytest.raises(RuntimeError, match=WRITTEN):
            _large().backward()
    assert not doctor.is_strict()
    _large().backward()
    doctor.strict()
    try:
        with pytest.raises(RuntimeError, match=WRITTEN):
            _large().backward()
        with doctor.strict(False):
            _large().backward()
        assert doctor.is_strict()
    finally:
        doctor.strict(False)


def test_strict_by_environment():
    program = (
        "import numpy as np, retrograd as torch\n"
        f"a = np.ones({LARGE}, dtype=np.float32)\n"
        f"loss = (torch.ones({LARGE}, requires_grad=True) * torch.from_numpy(a)).sum()\n"
        "a[0] = 2\nloss.backward()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], env=dict(os.environ, RETROGRAD_STRICT="1"), capture_output=True, text=True)
    assert done.returncode == 1 and "written from outside" in done.stderr
