"""Hooks around forward and backward."""

import warnings
from importlib import import_module

import pytest

import retrograd

needs_function = pytest.mark.skipif(not hasattr(retrograd.autograd, "Function"), reason="needs autograd.Function")


def identity(torch):
    class Passes(torch.nn.Module):
        def forward(self, x, plus=0.0):
            return x * 2 + plus

    return Passes()


@pytest.fixture
def ones(torch):
    return torch.ones(2)


# -- forward --------------------------------------------------------------------


def test_forward_hook_sees_and_replaces(torch, ones):
    m, seen = identity(torch), []
    first = m.register_forward_hook(lambda module, args, out: seen.append((module is m, len(args), out.tolist())))
    second = m.register_forward_hook(lambda module, args, out: out + 1)
    assert m(ones, plus=1.0).tolist() == [4.0, 4.0]
    assert seen == [(True, 1, [3.0, 3.0])]
    first.remove()
    second.remove()
    assert m(ones).tolist() == [2.0, 2.0] and len(seen) == 1


def test_pre_hook_replaces_arguments(torch, ones):
    m = identity(torch)
    m.register_forward_pre_hook(lambda module, args: args[0] * 3)
    assert m(ones).tolist() == [6.0, 6.0]
    m.register_forward_pre_hook(lambda module, args, kwargs: (args, {"plus": 1.0}), with_kwargs=True)
    assert m(ones).tolist() == [7.0, 7.0]
    m.register_forward_pre_hook(lambda module, args, kwargs: args, with_kwargs=True)
    with pytest.raises(RuntimeError, match="forward pre-hook must return None or a tuple"):
        m(ones)


def test_order_and_prepend(torch, ones):
    m, order = identity(torch), []
    for name, prepend in (("a", False), ("b", True), ("c", False)):
        m.register_forward_hook(lambda *a, name=name: order.append("hook " + name), prepend=prepend)
        m.register_forward_pre_hook(lambda *a, name=name: order.append("pre " + name), prepend=prepend)
    m(ones)
    assert order == ["pre b", "pre a", "pre c", "hook b", "hook a", "hook c"]


def test_with_kwargs(torch, ones):
    m, seen = identity(torch), []
    m.register_forward_hook(lambda module, args, kwargs, out: seen.append(kwargs), with_kwargs=True)
    m(ones, plus=2.0)
    assert seen == [{"plus": 2.0}]


def test_always_call(torch, ones):
    class Fails(torch.nn.Module):
        def forward(self, x):
            raise ValueError("inside")

    m, seen = Fails(), []
    m.register_forward_hook(lambda *a: seen.append("skipped"))
    m.register_forward_hook(lambda module, args, out: seen.append(out), always_call=True)
    with pytest.raises(ValueError, match="inside"):
        m(ones)
    assert seen == [None]

    def complains(module, args, out):
        raise RuntimeError("hook")

    m.register_forward_hook(complains, always_call=True)
    with pytest.warns(UserWarning, match="that was silenced.* forward.*: hook"), pytest.raises(ValueError):
        m(ones)


def test_handle_as_context(torch, ones):
    m = identity(torch)
    with m.register_forward_hook(lambda module, args, out: out * 0):
        assert m(ones).tolist() == [0.0, 0.0]
    assert m(ones).tolist() == [2.0, 2.0]


def test_tables_may_be_changed_directly(torch, ones):
    m = identity(torch)
    m._forward_hooks[99] = lambda module, args, out: out + 5
    assert m(ones).tolist() == [7.0, 7.0]
    m._forward_hooks.clear()
    assert m(ones).tolist() == [2.0, 2.0]
    from collections import OrderedDict

    m._forward_hooks = OrderedDict({1: lambda module, args, out: out + 6})
    assert m(ones).tolist() == [8.0, 8.0]


def test_global_hooks(torch, ones):
    hooks = import_module(f"{torch.__name__}.nn.modules.module")
    m, order = identity(torch), []
    m.register_forward_hook(lambda *a: order.append("own"))
    m.register_forward_pre_hook(lambda *a: order.append("own pre"))
    handles = [
        hooks.register_module_forward_hook(lambda *a: order.append("global")),
        hooks.register_module_forward_hook(lambda module, args, kwargs, out: order.append(kwargs), with_kwargs=True),
        hooks.register_module_forward_pre_hook(lambda *a: order.append("global pre")),
    ]
    try:
        m(ones)
        identity(torch)(ones)
    finally:
        for handle in handles:
            handle.remove()
    assert order == ["global pre", "own pre", "global", {}, "own", "global pre", "global", {}]
    identity(torch)(ones)
    assert len(order) == 8


def test_after_global_hooks_are_gone_the_short_way_is_back():
    hooks = import_module("retrograd.nn.modules.module")
    handle = hooks.register_module_forward_hook(lambda *a: None)
    m = identity(retrograd)
    m(retrograd.ones(1))
    handle.remove()
    m(retrograd.ones(1))
    assert not retrograd.nn.Module._hooked and not m._hooked


# -- backward -------------------------------------------------------------------


@needs_function
def test_full_backward_hook(torch, ones):
    m, seen = identity(torch), []
    m.register_full_backward_hook(lambda module, gi, go: seen.append(([g.tolist() for g in gi], [g.tolist() for g in go])))
    x = ones.requires_grad_()
    m(x).sum().backward()
    assert seen == [([[2.0, 2.0]], [[1.0, 1.0]])]
    assert x.grad.tolist() == [2.0, 2.0]


@needs_function
def test_full_backward_hook_replaces_grad_input(torch, ones):
    m = identity(torch)
    m.register_full_backward_hook(lambda module, gi, go: (gi[0] * 10,))
    x = ones.requires_grad_()
    m(x).sum().backward()
    assert x.grad.tolist() == [20.0, 20.0]


@needs_function
def test_full_backward_pre_hook(torch, ones):
    m, order = identity(torch), []
    m.register_full_backward_hook(lambda module, gi, go: order.append(go[0].tolist()))
    m.register_full_backward_pre_hook(lambda module, go: (go[0] * 3,))
    m.register_full_backward_pre_hook(lambda module, go: order.append("first"), prepend=True)
    x = ones.requires_grad_()
    m(x).sum().backward()
    assert order == ["first", [3.0, 3.0]] and x.grad.tolist() == [6.0, 6.0]


@needs_function
def test_hook_with_several_inputs_and_outputs(torch):
    class Two(torch.nn.Module):
        def forward(self, a, label, b):
            return a * b, label, a + b

    m, seen = Two(), []
    m.register_full_backward_hook(lambda module, gi, go: seen.append([[g if g is None else g.tolist() for g in gs] for gs in (gi, go)]))
    a, b = torch.tensor([2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)
    out = m(a, "text", b)
    assert out[1] == "text"
    (out[0] + out[2]).sum().backward()
    assert seen == [[[[4.0], None, [3.0]], [[1.0], None, [1.0]]]]


@needs_function
def test_hook_without_inputs_that_require_grad(torch, ones):
    m, seen = torch.nn.Linear(2, 1), []
    m.register_full_backward_hook(lambda module, gi, go: seen.append((list(gi), len(go))))
    with pytest.warns(UserWarning, match="Full backward hook is firing when gradients are computed with respect to module outputs"):
        m(ones).sum().backward()
    assert seen == [([None], 1)]


@needs_function
def test_hook_errors(torch, ones):
    m = identity(torch)
    m.register_full_backward_hook(lambda module, gi, go: (gi[0], gi[0]))
    with pytest.raises(RuntimeError, match="Backward hook returned an invalid number of grad_input, got 2, but expected 1"):
        m(ones.requires_grad_()).sum().backward()
    m = identity(torch)
    m.register_full_backward_pre_hook(lambda module, go: (go[0], go[0]))
    with pytest.raises(RuntimeError, match="Backward pre hook returned an invalid number of grad_output, got 2, but expected 1"):
        m(ones).sum().backward()
    m = torch.nn.Linear(2, 1)
    m.register_full_backward_hook(lambda module, gi, go: (ones,))
    loss = m(torch.ones(2)).sum()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match="should always return None or "):
            loss.backward()


@needs_function
def test_hook_and_no_grad(torch, ones):
    m = identity(torch)
    m.register_full_backward_hook(lambda *a: None)
    with torch.no_grad():
        assert m(ones.requires_grad_()).grad_fn is None
    assert m(torch.ones(1)).grad_fn is None


@needs_function
def test_double_backward_through_a_hook(torch):
    m, count = identity(torch), []
    m.register_full_backward_hook(lambda module, gi, go: count.append(1))
    x = torch.tensor([3.0], requires_grad=True)
    (g,) = torch.autograd.grad((m(x) ** 2).sum(), x, create_graph=True)
    (gg,) = torch.autograd.grad(g.sum(), x)
    assert g.tolist() == [24.0] and gg.tolist() == [8.0] and count


def test_old_backward_hook(torch, ones):
    m, seen = torch.nn.Tanh(), []
    m.register_backward_hook(lambda module, gi, go: seen.append((module is m, len(gi), go[0].tolist())))
    m((ones * 0).requires_grad_() * 1).sum().backward()
    assert seen == [(True, 1, [1.0, 1.0])]


def test_kinds_do_not_mix(torch):
    m = identity(torch)
    m.register_full_backward_hook(lambda *a: None)
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full backward hooks on a single Module"):
        m.register_backward_hook(lambda *a: None)
    m = identity(torch)
    m.register_backward_hook(lambda *a: None)
    with pytest.raises(RuntimeError, match="Cannot use both"):
        m.register_full_backward_hook(lambda *a: None)


def test_old_backward_hook_warnings(torch):
    class Two(torch.nn.Module):
        def forward(self, x):
            return x * 2, x + 1

    def run(module, x):
        module.register_backward_hook(lambda *a: None)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            module(x)
        return [str(w.message).split(" is deprecated")[0] for w in caught]

    x = torch.ones(2, requires_grad=True)
    assert run(Two(), x) == ["Using a non-full backward hook when outputs are generated by different autograd Nodes"]
    assert run(identity(torch), x * 1) == ["Using a non-full backward hook when the forward contains multiple autograd Nodes"]
    assert run(torch.nn.Tanh(), x * 1) == []


def test_a_module_may_use_any_private_name():
    class Mine(retrograd.nn.Module):
        def __init__(self):
            super().__init__()
            self._table = {"rows": 2}

        def _run(self, x):
            return x * self._table["rows"]

        def _set_kind(self):
            raise AssertionError("nobody called this")

        def forward(self, x):
            return self._run(x)

    x = retrograd.randn(2, 3, 4)
    for module in (Mine(), retrograd.nn.LSTM(4, 5), retrograd.nn.GRU(4, 5), retrograd.nn.RNN(4, 5)):
        seen = []
        module.register_forward_hook(lambda *parts, seen=seen: seen.append(type(parts[0])))
        module.register_forward_pre_hook(lambda *parts, seen=seen: seen.append("before"))
        module.register_full_backward_hook(lambda *parts, seen=seen: seen.append("backward"))
        result = module(x.requires_grad_())
        (result[0] if isinstance(result, tuple) else result).sum().backward()
        assert seen == ["before", type(module), "backward"]
