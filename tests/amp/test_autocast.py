"""autocast where retrograd says more than PyTorch, or where only it can be seen: handlers, kept casts, threads, memory."""

import gc
import threading
import weakref

import pytest

import retrograd as torch
from retrograd import _C
from retrograd.nn import functional as F


def leaf(*sizes):
    return torch.nn.Parameter(torch.ones(*sizes))


def source(y):
    """The cast of a weight that a product is recorded with."""
    return y.grad_fn.next_functions[1][0].next_functions[0][0]


def test_watchers_see_casts():
    seen = []

    def watch(op, args, kwargs):
        seen.append(op.name)
        return op(*args, **kwargs)

    w, x = leaf(2, 2), torch.ones(1, 2)
    with torch.autocast("cpu"):
        _C._push_op_handler(watch)
        try:
            F.linear(x, w)
            F.linear(x, w)
        finally:
            _C._pop_op_handler()
    assert [name for name in seen if "copy" in name] == ["_to_copy"] * 3  # the weight's once


@pytest.mark.parametrize("write", [lambda w: w.mul_(3), lambda w: w.data.mul_(3), lambda w: setattr(w, "data", torch.full((2, 2), 3.0))])
def test_a_written_weight_is_cast_anew(write):
    w, x = leaf(2, 2), torch.ones(1, 2)
    with torch.autocast("cpu"):
        F.linear(x, w)
        with torch.no_grad():
            write(w)
        assert F.linear(x, w).tolist() == [[6.0, 6.0]]


def test_a_cast_without_history_is_not_used_where_one_is_needed():
    w, x = leaf(2, 2), torch.ones(1, 2)
    with torch.autocast("cpu"):
        with torch.no_grad():
            F.linear(x, w)
        with torch.inference_mode():
            F.linear(x, w)
        y = F.linear(x, w).sum()
    y.backward()
    assert w.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_another_dtype_inside():
    w, x = leaf(2, 2), torch.ones(1, 2)
    with torch.autocast("cpu"):
        F.linear(x, w)
        with torch.autocast("cpu", torch.float16):
            assert F.linear(x, w).dtype is torch.float16
        assert F.linear(x, w).dtype is torch.bfloat16


def test_a_frozen_weight_has_no_gradient():
    w, x = leaf(2, 2), torch.ones(1, 2)
    with torch.autocast("cpu"):
        assert F.linear(x, w).requires_grad
        w.requires_grad_(False)
        assert not F.linear(x, w).requires_grad


def test_casts_are_forgotten_outside():
    w, x = leaf(2, 2), torch.ones(1, 2)
    with torch.autocast("cpu"):
        node = weakref.ref(source(F.linear(x, w)))
        with torch.autocast("cpu"):
            pass
        gc.collect()
        assert node() is not None
    gc.collect()
    assert node() is None


def test_leaves_that_come_and_go_do_not_pile_up():
    x = torch.ones(1, 64)
    with torch.autocast("cpu"):
        first = weakref.ref(w := leaf(64, 64))
        for _ in range(2000):
            F.linear(x, w)
            w = leaf(64, 64)
    assert first() is None
    with torch.autocast("cpu"):
        before = torch.memory_allocated()
        for _ in range(2000):
            F.linear(x, leaf(64, 64))
        after = torch.memory_allocated()
    assert after - before < 600 * (64 * 64 * 6 + 1024)


def test_threads_have_their_own():
    w, x = leaf(4, 4), torch.ones(2, 4)
    found, errors = [], []

    def work(dtype):
        try:
            for _ in range(200):
                with torch.autocast("cpu", dtype):
                    found.append(F.linear(x, w).dtype is dtype)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(dtype,)) for dtype in (torch.bfloat16, torch.float16) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and all(found) and len(found) == 800


def test_a_thread_that_ends_inside():
    w, x = leaf(2, 2), torch.ones(1, 2)

    def work():
        torch.autocast("cpu").__enter__()
        F.linear(x, w)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not torch.is_autocast_enabled("cpu") and F.linear(x, w).dtype is torch.float32


def test_backward_leaves_the_dtypes_of_the_forward():
    w, x = leaf(2, 2), torch.ones(1, 2)
    with torch.autocast("cpu"):
        y = F.linear(x, w)
        z = y.square().mean()
    z.backward()
    assert w.grad.dtype is torch.float32 and y.dtype is torch.bfloat16


def test_projected_lstm():
    with torch.autocast("cpu"):
        out, (h, c) = torch.nn.LSTM(4, 3, proj_size=2)(torch.ones(3, 2, 4))
    assert [t.dtype for t in (out, h, c)] == [torch.bfloat16, torch.bfloat16, torch.float32]


def test_gradients_of_gradients():
    w = leaf(2, 2)
    with torch.autocast("cpu"):
        y = (w @ w).float().sum()
        (g,) = torch.autograd.grad(y, w, create_graph=True)
    g.sum().backward()
    assert w.grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]


def test_a_fused_attention_takes_mixed_dtypes():
    q = torch.randn(1, 2, 3, 4, requires_grad=True)
    with torch.autocast("cpu"):
        out = F.scaled_dot_product_attention(q, q.detach().bfloat16(), q.detach(), dropout_p=0.5)
    out.sum().backward()
    assert out.dtype is torch.bfloat16 and q.grad.dtype is torch.float32


def test_numbers_of_devices_and_words_are_checked():
    with pytest.raises(ValueError, match="no device of number 99"):
        _C._set_autocast_enabled(99, True)
    with pytest.raises(ValueError, match="no policy of autocast"):
        _C._Overridable(len, None, "sideways")
    with pytest.raises(TypeError, match="must be torch.dtype"):
        _C._set_autocast_dtype(0, 3)


def test_functions_in_python_keep_their_errors():
    with torch.autocast("cpu"):
        with pytest.raises(RuntimeError):
            torch.quantile(torch.ones(2, dtype=torch.bfloat16), 3.0)
        assert torch.is_autocast_enabled("cpu")
        with pytest.raises(TypeError):
            F.triplet_margin_loss(torch.ones(2))
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype is torch.bfloat16
