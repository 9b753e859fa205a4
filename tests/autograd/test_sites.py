"""Errors of autograd name the lines of the program that led to them.

PyTorch says what went wrong; these tests ask for where as well: the line that saved a tensor and the line
that changed it, the line of the backward pass that freed a graph.
"""

import inspect
import re

import pytest

import retrograd as torch

if torch.__name__ != "retrograd":
    pytest.skip("PyTorch does not keep sites", allow_module_level=True)


def line(offset=0):
    """The caller's place, as messages spell it: file and line. An offset of -1 is the line above."""
    frame = inspect.currentframe().f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno + offset}"


def message(call):
    with pytest.raises(RuntimeError) as info:
        call()
    return str(info.value)


def sites(text):
    """The places that a message names."""
    return set(re.findall(r"[^\s\"'(,]+:\d+", text))


# -- in-place modification ----------------------------------------------------


def test_saved_and_changed():
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2)
    y, saved = x * w, line()
    w.add_(1)
    changed = line(-1)
    text = message(y.sum().backward)
    assert "one of the variables needed for gradient computation has been modified by an inplace operation" in text
    assert saved in sites(text)
    assert changed in sites(text)


def test_result_changed():
    y, saved = torch.ones(2, requires_grad=True).exp(), line()
    y += 1
    changed = line(-1)
    text = message(y.sum().backward)
    assert saved in sites(text) and changed in sites(text)


@pytest.mark.parametrize(
    "change",
    [
        lambda t: (t.mul_(2), line()),
        lambda t: (t.zero_(), line()),
        lambda t: (t.__setitem__(0, 5.0), line()),
        lambda t: (t[0].add_(1), line()),
        lambda t: (t.view(2).add_(1), line()),
        lambda t: (t.detach().add_(1), line()),
        lambda t: (t.copy_(torch.zeros(2)), line()),
        lambda t: (torch.add(t, 1, out=t), line()),
        lambda t: (t.uniform_(), line()),
    ],
)
def test_every_kind_of_change_is_named(change):
    w = torch.ones(2)
    y = torch.ones(2, requires_grad=True) * w
    _, changed = change(w)
    assert changed in sites(message(y.sum().backward))


def test_the_change_named_is_one_after_saving():
    w = torch.ones(2)
    w.add_(1)
    before = line(-1)
    y = torch.ones(2, requires_grad=True) * w
    w.add_(1)
    after = line(-1)
    text = message(y.sum().backward)
    assert after in sites(text) and before not in sites(text)


def test_change_in_another_function():
    def update(t):
        t.sub_(0.1)
        return line(-1)

    w = torch.ones(2, requires_grad=True)
    loss, saved = (w * w).sum(), line()
    with torch.no_grad():
        changed = update(w)
    text = message(loss.backward)
    assert saved in sites(text) and changed in sites(text)


def test_reading_a_saved_tensor_names_the_same_lines():
    w = torch.ones(2)
    y, saved = torch.ones(2, requires_grad=True) * w, line()
    w.add_(1)
    changed = line(-1)
    text = message(lambda: y.grad_fn._saved_other)
    assert saved in sites(text) and changed in sites(text)


def test_loop():
    hidden = torch.zeros(2)
    w = torch.ones(2, requires_grad=True)
    losses = []
    for _ in range(3):
        losses.append((hidden * w).sum())
        saved = line(-1)
        hidden.add_(1)
        changed = line(-1)
    text = message(sum(losses).backward)
    assert saved in sites(text) and changed in sites(text)


# -- second backward ----------------------------------------------------------


def test_second_backward_names_the_first():
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    y.backward()
    first = line(-1)
    text = message(y.backward)
    assert "Trying to backward through the graph a second time" in text
    assert first in sites(text)


def test_second_grad_names_the_first():
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    torch.autograd.grad(y, x)
    first = line(-1)
    assert first in sites(message(lambda: torch.autograd.grad(y, x)))


def test_shared_part_names_the_backward_that_freed_it():
    x = torch.ones(2, requires_grad=True)
    shared = x * x
    shared.sum().backward()
    first = line(-1)
    assert first in sites(message((shared * 2).sum().backward))


def test_saved_after_backward_names_the_backward():
    y = torch.ones(2, requires_grad=True).exp()
    y.sum().backward()
    first = line(-1)
    assert first in sites(message(lambda: y.grad_fn._saved_result))


def test_retained_passes_are_not_blamed():
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    retained = line(-1)
    y.backward()
    freed = line(-1)
    text = message(y.backward)
    assert freed in sites(text) and retained not in sites(text)


# -- where lines come from ----------------------------------------------------


def test_lines_of_the_package_are_not_named():
    model = torch.nn.Linear(2, 2)
    y = model(torch.ones(1, 2, requires_grad=True)).exp()
    y.add_(1)
    text = message(y.sum().backward)
    assert any(site.startswith(__file__) for site in sites(text))
    assert not any("retrograd/nn" in site for site in sites(text))


def test_code_without_a_file():
    space = {"torch": torch}
    exec(
        "x = torch.ones(2, requires_grad=True)\nw = torch.ones(2)\n\ny = x * w\nw.add_(1)\n",
        space,
    )
    text = message(space["y"].sum().backward)
    assert {"<string>:4", "<string>:5"} <= sites(text)


# -- what Python code raises during a backward ----------------------------------


class Fails(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        raise KeyError("boom")


def boom(*_):
    raise KeyError("boom")


def hooked_tensor(x):
    y = x.exp()
    y.register_hook(boom)
    return y, "ExpBackward0", line(-2)


def hooked_leaf(x):
    x.register_hook(boom)
    y = x.exp()
    return y, "AccumulateGrad", line(-1)


def node_prehook(x):
    y = x.exp()
    y.grad_fn.register_prehook(boom)
    return y, "ExpBackward0", line(-2)


def node_hook(x):
    y = x.exp()
    y.grad_fn.register_hook(boom)
    return y, "ExpBackward0", line(-2)


def post_accumulate(x):
    x.register_post_accumulate_grad_hook(boom)
    y = x.exp()
    return y, "AccumulateGrad", line(-1)


def unpack(x):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, boom):
        y = x.exp()
    return y, "ExpBackward0", line(-1)


def custom_function(x):
    y = Fails.apply(x)
    return y, "FailsBackward", line(-1)


@pytest.mark.parametrize("make", [custom_function, hooked_tensor, hooked_leaf, node_prehook, node_hook, post_accumulate, unpack])
def test_exceptions_of_python_code_get_a_note(make):
    x = torch.ones(2, requires_grad=True)
    y, name, place = make(x)
    for keep in (True, False):  # a new exception each time, with one note
        with pytest.raises(KeyError) as info:
            (y * 3).sum().backward(retain_graph=keep)
        (note,) = info.value.__notes__
        assert f"in backward of {name}" in note and note.endswith(place)
        assert info.value.args == ("boom",)


def test_the_innermost_backward_names_its_line():
    class Outer(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            with torch.enable_grad():
                y = Fails.apply(torch.ones(2, requires_grad=True)).sum()
            Outer.place = line(-1)
            y.backward()

    z = Outer.apply(torch.ones(2, requires_grad=True))
    with pytest.raises(KeyError) as info:
        z.sum().backward()
    (note,) = info.value.__notes__
    assert "FailsBackward" in note and note.endswith(Outer.place)


def test_an_exception_that_is_raised_again_gets_no_second_note():
    kept = KeyError("same")

    def hook(_):
        raise kept

    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    y.register_hook(hook)
    for _ in range(3):
        with pytest.raises(KeyError):
            y.sum().backward(retain_graph=True)
    assert len(kept.__notes__) == 1


def test_what_hooks_return_is_refused_with_the_line():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    place = line(-1)
    y.register_hook(lambda grad: torch.ones(3))
    text = message(y.sum().backward)
    assert "has changed the size of value" in text and text.endswith("in backward of ExpBackward0, made at " + place)


def test_the_number_of_an_op_is_part_of_its_name():
    for reduce, name in (
        (lambda a: a.sum(), "Sum"),
        (lambda a: a.sum(1), "Sum1"),
        (lambda a: a.mean(1), "Mean1"),
        (lambda a: a.mean(), "Mean"),
    ):
        b = reduce(torch.ones(2, 2, requires_grad=True))
        c = b * b
        with torch.no_grad():
            b += 1
        assert f"which is output 0 of {name}, is at version 1" in message(c.sum().backward)


def test_names_of_nodes_of_copies():
    assert torch.diag(torch.ones(2, 2, requires_grad=True)).grad_fn.name() == "DiagonalBackward0_copy"
    leaf = torch.ones(2, requires_grad=True)
    assert leaf.exp().grad_fn.next_functions[0][0].name() == "torch::autograd::AccumulateGrad"


def test_a_second_backward_says_what_to_specify():
    y = (torch.ones(2, requires_grad=True) ** 2).sum()
    y.backward()
    text = message(y.backward)
    assert text.startswith("Trying to backward through the graph a second time")
    assert "Specify retain_graph=True" in text and "if you need to backward through the graph a second time" in text
