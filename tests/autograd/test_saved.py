"""Tensors saved for backward: what is kept, how long, and that it is still what it was."""

import gc
import weakref

import pytest

import retrograd as torch

MODIFIED = "one of the variables needed for gradient computation has been modified by an inplace operation"


def ones(*shape):
    return torch.ones(*shape, requires_grad=True)


# -- what was saved must not change -------------------------------------------

# Name: an operation, then a change that its derivative cannot live with.
CORRUPTED = {
    "mul, first": (lambda a, b: a * b, lambda a, b, y: a.add_(1)),
    "mul, second": (lambda a, b: a * b, lambda a, b, y: b.add_(1)),
    "div, second": (lambda a, b: a / b, lambda a, b, y: b.add_(1)),
    "pow": (lambda a, b: a**2, lambda a, b, y: a.add_(1)),
    "exp, result": (lambda a, b: a.exp(), lambda a, b, y: y.add_(1)),
    "tanh, result": (lambda a, b: a.tanh(), lambda a, b, y: y.mul_(2)),
    "sigmoid, result": (lambda a, b: a.sigmoid(), lambda a, b, y: y.mul_(2)),
    "sqrt, result": (lambda a, b: a.sqrt(), lambda a, b, y: y.mul_(2)),
    "relu, result": (lambda a, b: a.relu(), lambda a, b, y: y.mul_(2)),
    "softmax, result": (lambda a, b: a.softmax(0), lambda a, b, y: y.mul_(2)),
    "sin": (lambda a, b: a.sin(), lambda a, b, y: a.add_(1)),
    "log": (lambda a, b: a.log(), lambda a, b, y: a.add_(1)),
    "abs": (lambda a, b: a.abs(), lambda a, b, y: a.add_(1)),
    "matmul, first": (lambda a, b: a @ b, lambda a, b, y: a.add_(1)),
    "matmul, second": (lambda a, b: a @ b, lambda a, b, y: b.add_(1)),
    "maximum": (lambda a, b: torch.maximum(a, b), lambda a, b, y: b.add_(1)),
    "through a view": (lambda a, b: a * b, lambda a, b, y: b[0].add_(1)),
    "through detach": (lambda a, b: a * b, lambda a, b, y: b.detach().add_(1)),
    "by assignment": (lambda a, b: a * b, lambda a, b, y: b.__setitem__((0, 0), 5.0)),
    "by out=": (lambda a, b: a * b, lambda a, b, y: torch.zeros(2, 2, out=b.detach())),
    "by zero_": (lambda a, b: a * b, lambda a, b, y: b.zero_()),
}


@pytest.mark.parametrize(("operation", "change"), CORRUPTED.values(), ids=CORRUPTED)
def test_change_is_refused(operation, change):
    # Not leaves, which may not be changed at all.
    a, b = ones(2, 2) * 1, ones(2, 2) * 1
    y = operation(a, b)
    change(a, b, y)
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.sum().backward()


HARMLESS = {
    "add": (lambda a, b: a + b, lambda a, b, y: a.add_(1)),
    "mul by a number": (lambda a, b: a * 2, lambda a, b, y: a.add_(1)),
    "div, first": (lambda a, b: a / b.detach(), lambda a, b, y: a.add_(1)),
    "exp, input": (lambda a, b: a.exp(), lambda a, b, y: a.add_(1)),
    "tanh, input": (lambda a, b: a.tanh(), lambda a, b, y: a.add_(1)),
    "sin, result": (lambda a, b: a.sin(), lambda a, b, y: y.add_(1)),
    "mul, result": (lambda a, b: a * b, lambda a, b, y: y.add_(1)),
    "sum": (lambda a, b: a.sum(), lambda a, b, y: a.add_(1)),
    "view": (lambda a, b: a.view(4), lambda a, b, y: a.add_(1)),
    "relu, input": (lambda a, b: a.relu(), lambda a, b, y: a.add_(1)),
    "a copy was saved": (lambda a, b: a * b.clone(), lambda a, b, y: b.add_(1)),
}


@pytest.mark.parametrize(("operation", "change"), HARMLESS.values(), ids=HARMLESS)
def test_change_is_harmless(operation, change):
    a, b = ones(2, 2) * 1, ones(2, 2) * 1
    y = operation(a, b)
    change(a, b, y)
    y.sum().backward()


def test_message():
    x = ones(2)
    y = x * x
    with torch.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError) as info:
        y.sum().backward()
    text = str(info.value)
    assert MODIFIED in text
    assert "[torch.FloatTensor [2]]" in text
    assert "is at version 1; expected version 0 instead" in text


def test_message_names_the_operation():
    y = (ones(2) * 2).exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"which is output 0 of Exp"):
        y.sum().backward()


def test_constants_are_watched_too():
    x, constant = ones(2), torch.ones(2)
    y = x * constant
    constant.zero_()
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.sum().backward()


def test_index_is_watched():
    x, index = ones(3), torch.tensor([0, 1])
    y = x[index]
    index.zero_()
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.sum().backward()


def test_two_changes_that_cancel_are_still_changes():
    x, constant = ones(2), torch.ones(2)
    y = x * constant
    constant.add_(1)
    constant.sub_(1)
    with pytest.raises(RuntimeError, match="version 2; expected version 0"):
        y.sum().backward()


def test_change_before_saving_is_fine():
    x, constant = ones(2), torch.ones(2)
    constant.mul_(3)
    y = x * constant
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_change_after_backward_is_fine():
    x = ones(2)
    y = x * x
    y.sum().backward()
    with torch.no_grad():
        x.add_(1)
    assert x.grad.tolist() == [2.0, 2.0]


def test_only_the_part_that_is_needed_is_checked():
    x, w = ones(2), torch.ones(2)
    y = x * w
    z = y + x
    w.zero_()
    with pytest.raises(RuntimeError, match=MODIFIED):
        z.sum().backward()
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.sum().backward()


def test_training_loop_is_not_disturbed():
    w = ones(2)
    for _ in range(3):
        (w * w).sum().backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad.zero_()
    torch.testing.assert_close(w.detach(), torch.full((2,), 0.8**3))


def test_update_between_forward_and_backward():
    w = ones(2)
    loss = (w * w).sum()
    with torch.no_grad():
        w -= 0.1
    with pytest.raises(RuntimeError, match=MODIFIED):
        loss.backward()


# -- reading what was saved ---------------------------------------------------


def test_saved_input():
    x = ones(2)
    y = x * 2
    z = y * y
    assert z.grad_fn._saved_self is y
    assert z.grad_fn._saved_other is y


def test_saved_result():
    y = ones(2).exp()
    saved = y.grad_fn._saved_result
    assert torch.equal(saved, y)
    assert saved.grad_fn is y.grad_fn


def test_saved_values_that_are_not_tensors():
    x = ones(2, 3)
    assert x.sum().grad_fn._saved_self_sym_sizes == (2, 3)
    assert x.sum(1).grad_fn._saved_dim == (1,)
    assert (x**3).grad_fn._saved_exponent == 3
    assert x.softmax(1).grad_fn._saved_dim == 1


def test_what_was_not_needed_is_none():
    node = (ones(2) * torch.ones(2)).grad_fn
    assert node._saved_self is None
    assert node._saved_other is not None


def test_saved_after_backward():
    y = ones(2).exp()
    y.sum().backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        y.grad_fn._saved_result


def test_saved_after_a_backward_that_retains():
    y = ones(2).exp()
    y.sum().backward(retain_graph=True)
    assert torch.equal(y.grad_fn._saved_result, y)


def test_saved_and_changed():
    x = ones(2) * 1
    y = x * x
    x.add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.grad_fn._saved_self


def test_names_of_saved_values():
    assert {"_saved_self", "_saved_other"} <= set(dir((ones(2) * ones(2)).grad_fn))
    assert "_saved_result" in dir(ones(2).exp().grad_fn)
    with pytest.raises(AttributeError):
        ones(2).exp().grad_fn._saved_nothing


# -- how long it is kept ------------------------------------------------------


def test_freed_by_backward():
    x, constant = ones(2), torch.ones(2)
    ref = weakref.ref(constant)
    y = x * constant
    del constant
    gc.collect()
    y.sum().backward()
    gc.collect()
    assert ref() is None
    assert y.grad_fn is not None


def test_freed_with_the_graph():
    x, constant = ones(2), torch.ones(2)
    ref = weakref.ref(constant)
    y = x * constant
    del constant
    del y
    gc.collect()
    assert ref() is None


def test_result_saved_in_its_own_node_is_no_leak():
    y = ones(2).exp()
    ref = weakref.ref(y)
    gc.disable()
    try:
        del y
        assert ref() is None
    finally:
        gc.enable()


def test_nothing_is_saved_without_grad():
    constant = torch.ones(2)
    ref = weakref.ref(constant)
    with torch.no_grad():
        y = ones(2) * constant
    del constant
    assert ref() is None
    assert y.grad_fn is None


def test_a_saved_tensor_that_lost_its_history():
    x = torch.ones(2, requires_grad=True)
    y = x * 3
    z = y * y
    y.detach_()
    with pytest.raises(RuntimeError, match=r"a saved tensor that has been detached in-place, i.e. with .detach_\(\)"):
        z.sum().backward()


def test_a_leaf_that_became_a_view_with_history():
    base = torch.ones(2)
    x = base.view(2).requires_grad_()
    y = (x * 2).sum()
    base[0] = y
    with pytest.raises(RuntimeError, match="leaf variable has been moved into the graph interior"):
        y.backward()


@pytest.mark.parametrize("op", [torch.maximum, torch.atan2, torch.hypot, torch.mul, torch.lerp, torch.pow])
def test_a_saved_tensor_is_unpacked_once_for_all_gradients_of_a_node(op):
    unpacked = []

    def unpack(t):
        unpacked.append(id(t))
        return t

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([2.0, 3.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), unpack):
        out = op(x, y, torch.ones(2, requires_grad=True)) if op is torch.lerp else op(x, y)
    out.sum().backward()
    assert len(unpacked) == len(set(unpacked))
    assert len(unpacked) >= 2
