"""Writes that versions do not show, after a tensor was saved for backward: through .data and the like, NumPy arrays and DLPack capsules."""

import os
import subprocess
import sys

import pytest

import retrograd as torch
from retrograd import doctor
from retrograd.utils.checkpoint import checkpoint

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


# ---- whatever was saved, and whoever writes ----

MODIFIED = "modified by an inplace operation"


class Times(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(factor)
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        (factor,) = ctx.saved_tensors
        return grad * factor, None


def of_result(op):
    y = op(leaf() * 1)
    return y.detach(), (y * torch.arange(4.0)).sum()


def written_view():
    y = leaf() * 1
    y[:2].exp_()
    return y.detach(), y.sum()


def saved_by(use, *shape):
    data = torch.ones(*shape)
    return data, use(data).sum()


def indexed(use):
    index = torch.tensor([1, 2, 1])
    return index, use(index).sum()


# A tensor, and a loss whose derivative reads its memory.
SAVED = {
    "whole": lambda: saved_by(lambda d: leaf() * d, 4),
    "view": lambda: saved_by(lambda d: leaf() * d[:4], 8),
    "strided": lambda: saved_by(lambda d: leaf() * d[::2], 8),
    "transposed": lambda: saved_by(lambda d: torch.ones(3, 2, requires_grad=True) * d.t(), 2, 3),
    "broadcast": lambda: saved_by(lambda d: leaf() * d, 1),
    "expanded": lambda: saved_by(lambda d: leaf() * d.expand(4), 1),
    "0-d": lambda: saved_by(lambda d: leaf() * d, ()),
    "matrix": lambda: saved_by(lambda d: torch.ones(2, 3, requires_grad=True) @ d, 3, 2),
    "weight": lambda: saved_by(lambda d: torch.nn.functional.linear(torch.ones(2, 3, requires_grad=True), d), 2, 3),
    "custom function": lambda: saved_by(lambda d: Times.apply(leaf(), d), 4),
    "view in a custom function": lambda: saved_by(lambda d: Times.apply(leaf(), d[:4]), 8),
    "checkpoint": lambda: saved_by(lambda d: checkpoint(lambda x, d: (x * d).exp(), leaf(), d, use_reentrant=False), 4),
    "exp": lambda: of_result(torch.exp),
    "sigmoid": lambda: of_result(torch.sigmoid),
    "softmax": lambda: of_result(lambda x: x.softmax(0)),
    "exp_": lambda: of_result(lambda x: x.exp_()),
    "exp_ of a view": written_view,
    "index": lambda: indexed(lambda i: leaf()[i]),
    "gather": lambda: indexed(lambda i: leaf().gather(0, i)),
    "index of several": lambda: indexed(lambda i: torch.ones(4, 4, requires_grad=True)[i, i]),
}


def by_dlpack(t):
    array = np.from_dlpack(t)  # read-only for NumPy
    np.ctypeslib.ctypes.memset(array.__array_interface__["data"][0], 0, array.nbytes)


def by_set(t):
    other = torch.empty(0, dtype=t.dtype)
    other.set_(t).zero_()


WRITES = {
    "data": lambda t: t.data.zero_(),
    "part of data": lambda t: t.data.view(-1)[:1].zero_(),
    "view of data": lambda t: t.data[...].as_strided((1,), (1,), 0).zero_(),
    "numpy": lambda t: t.numpy().fill(0),
    "part of numpy": lambda t: t.numpy().reshape(-1).__setitem__(0, 0),
    "dlpack": by_dlpack,
    "unsafe_split": lambda t: t.view(-1).unsafe_split(1)[0].zero_(),
    "set_": by_set,
    "in place": lambda t: t.zero_(),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
@pytest.mark.parametrize("saved", SAVED.values(), ids=SAVED.keys())
def test_no_write_goes_unnoticed(saved, write):
    data, loss = saved()
    write(data)
    with pytest.raises(RuntimeError, match=MODIFIED):
        loss.backward()


@pytest.mark.parametrize("saved", SAVED.values(), ids=SAVED.keys())
def test_handing_memory_out_is_no_write(saved):
    data, loss = saved()
    np.from_dlpack(data)
    data.numpy()[...]
    data.data[...]
    loss.backward()


def test_the_other_way_round():
    """What was saved is the alias that counts by itself."""
    x = torch.ones(4)
    for alias in (x.data, x.unsafe_split(4)[0], torch.empty(0).set_(x)):
        loss = (leaf() * alias).sum()
        alias.mul_(1)
        with pytest.raises(RuntimeError, match=MODIFIED):
            loss.backward()
        loss = (leaf() * alias).sum()
        x.add_(1)
        with pytest.raises(RuntimeError, match=MODIFIED):
            loss.backward()
        (leaf() * alias).sum().backward()


@pytest.mark.parametrize("value", [lambda x: torch.zeros(4), lambda x: x.data * 2], ids=["new", "computed"])
def test_other_memory_for_what_was_saved(value):
    x = leaf()
    loss = (x * x).sum()
    x.data = value(x)
    with pytest.raises(RuntimeError, match=MODIFIED):
        loss.backward()
    loss = (x * x).sum()
    kept = torch.full((4,), 5.0)
    x.data = kept
    with pytest.raises(RuntimeError, match=MODIFIED):
        loss.backward()
    (x * x).sum().backward()
