"""Hooks on tensors and nodes: when they run, what they see, what they may replace."""

import gc
import pickle
import warnings
import weakref

import pytest

import retrograd as torch
from retrograd.testing import assert_close
from retrograd.utils.hooks import unserializable_hook

OURS = torch.__name__ == "retrograd"


def leaf(*values):
    return torch.tensor(values if len(values) > 1 else values[0], requires_grad=True)


class Nothing(torch.autograd.Function):
    """The identity, with no gradient at all."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return None


# -- tensor hooks -------------------------------------------------------------


def test_a_hook_sees_the_whole_gradient_once():
    seen = []
    x = leaf(2.0)
    y = x * 3
    y.register_hook(lambda g: seen.append(g.item()))
    (y * 2 + y * 5).backward()
    assert seen == [7.0]


def test_a_leaf_hook_sees_the_whole_gradient_once():
    seen = []
    x = leaf(2.0)
    x.register_hook(lambda g: seen.append(g.item()))
    (x * 2 + x * 3 + x * 4).backward()
    assert seen == [9.0]


@pytest.mark.parametrize("on_leaf", [True, False])
def test_hooks_run_in_order_of_registration_each_on_the_last_result(on_leaf):
    x = leaf(2.0)
    y = x * 1
    target = x if on_leaf else y
    target.register_hook(lambda g: g * 2)
    target.register_hook(lambda g: None)
    target.register_hook(lambda g: g + 1)
    y.backward()
    assert x.grad.item() == 3.0


def test_hook_of_a_leaf_that_is_the_root():
    seen = []
    x = leaf(2.0)
    x.register_hook(lambda g: seen.append(g.item()) or g * 3)
    x.backward()
    assert seen == [1.0] and x.grad.item() == 3.0


def test_removed_hooks_do_not_run():
    seen = []
    x = leaf(2.0)
    y = x * 3
    first = y.register_hook(lambda g: seen.append(1))
    with y.register_hook(lambda g: seen.append(2)):
        y.backward(retain_graph=True)
    first.remove()
    first.remove()
    y.backward()
    assert seen == [1, 2]


@pytest.mark.parametrize("register", ["tensor", "node"])
def test_a_hook_that_removes_hooks_changes_the_next_backward(register):
    seen, handles = [], []
    x = leaf(2.0)
    y = x * 3
    add = y.register_hook if register == "tensor" else lambda f: y.grad_fn.register_hook(lambda gi, go: f(gi))

    def first(grad):
        seen.append(1)
        handles[1].remove()
        handles[0].remove()

    handles += [add(first), add(lambda g: seen.append(2)), add(lambda g: seen.append(3))]
    z = y * 2
    z.backward(retain_graph=True)
    z.backward()
    assert seen == [1, 2, 3, 3]


def test_a_hook_may_register_hooks():
    seen = []
    x = leaf(2.0)
    y = x * 3

    def hook(grad):
        seen.append("y")
        y.register_hook(lambda g: seen.append("new"))
        x.register_hook(lambda g: seen.append("x"))

    y.register_hook(hook)
    z = y * 2
    z.backward(retain_graph=True)
    z.backward()
    assert seen == ["y", "x", "y", "new", "x", "x"]


def test_hooks_run_for_the_inputs_of_grad():
    seen = []
    x, w = leaf(2.0), leaf(5.0)
    y = x * w
    for name, t in {"x": x, "w": w, "y": y}.items():
        t.register_hook(lambda g, name=name: seen.append(name))
    torch.autograd.grad(y, x)
    assert seen == ["y", "x"]


def test_grad_returns_what_the_hook_returned():
    x = leaf(2.0)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    (g,) = torch.autograd.grad(y * 2, y)
    assert g.item() == 20.0


@pytest.mark.skipif(not OURS, reason="PyTorch returns the gradient from before the hook when a node behind is wanted too")
def test_grad_returns_what_the_hook_returned_whatever_else_is_asked_for():
    x = leaf(2.0)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    gy, gx = torch.autograd.grad(y * 2, [y, x])
    assert (gy.item(), gx.item()) == (20.0, 60.0)


def test_hooks_see_none_where_no_gradient_comes():
    seen = []
    x = leaf(2.0)
    y = x * 3
    y.retain_grad()
    y.register_hook(lambda g: seen.append(("y", g)))
    y.grad_fn.register_prehook(lambda g: seen.append(("pre", g)))
    y.grad_fn.register_hook(lambda gi, go: seen.append(("post", gi, go)))
    x.register_hook(lambda g: seen.append(("x", g)))
    x.register_post_accumulate_grad_hook(lambda p: seen.append(("accumulated", p.grad)))
    Nothing.apply(y).backward()
    assert seen == [("y", None), ("pre", (None,)), ("post", (None, None), (None,)), ("x", None), ("accumulated", None)]
    assert x.grad is None and y.grad is None


def test_hook_of_an_output_that_got_no_gradient():
    seen = []
    x = leaf(2.0, 3.0)
    a, b = x.unbind()
    a.register_hook(lambda g: seen.append(("a", g.item())))
    b.register_hook(lambda g: seen.append(("b", g)))
    a.grad_fn.register_prehook(lambda g: seen.append(("pre", g[0].item(), g[1])))
    a.backward()
    assert seen == [("a", 1.0), ("b", None), ("pre", 1.0, None)]
    assert x.grad.tolist() == [1.0, 0.0]


def test_grad_mode_in_hooks_is_that_of_backward():
    seen = []
    x = leaf(2.0)
    y = x * 3
    y.register_hook(lambda g: seen.append(torch.is_grad_enabled()))
    torch.autograd.grad(y * y, x, create_graph=True)
    torch.autograd.grad(y * y, x)
    assert seen == [True, False]


def test_exceptions_of_hooks_come_through():
    x = leaf(2.0)
    y = x * 3

    def hook(grad):
        raise KeyError("boom")

    handle = y.register_hook(hook)
    with pytest.raises(KeyError, match="boom"):
        y.backward(retain_graph=True)
    handle.remove()
    y.backward()
    assert x.grad.item() == 3.0


def test_replacements_are_checked():
    def backward_with(result):
        x = leaf(2.0)
        y = x * 3

        def hook(grad):
            return result

        y.register_hook(hook)
        y.backward()

    with pytest.raises(RuntimeError, match="hook 'hook' has changed the size of value"):
        backward_with(torch.ones(2))
    with pytest.raises(RuntimeError, match=r"has changed the type of value \(was torch.FloatTensor got torch.DoubleTensor\)"):
        backward_with(torch.tensor(1.0, dtype=torch.float64))
    with pytest.raises(TypeError, match="expected Variable, but hook returned 'str'"):
        backward_with("one")


def test_tensors_without_gradient_take_no_hooks():
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require gradient"):
        torch.ones(2).register_hook(print)
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require gradient"):
        torch.ones(2).register_post_accumulate_grad_hook(print)
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"):
        torch.ones(2).retain_grad()


# -- order --------------------------------------------------------------------


def test_order_of_everything_on_one_tensor():
    seen = []
    x = leaf(2.0)
    y = x * 3
    y.retain_grad()
    y.register_hook(lambda g: seen.append(("tensor 1", g.item())) or g * 2)
    y.grad_fn.register_prehook(lambda g: seen.append(("pre", g[0].item())) or (g[0] * 5,))
    y.register_hook(lambda g: seen.append(("tensor 2", g.item())))
    y.grad_fn.register_hook(lambda gi, go: seen.append(("post", gi[0].item(), go[0].item())))
    (y * 1).backward()
    assert seen == [("tensor 1", 1.0), ("tensor 2", 2.0), ("pre", 2.0), ("post", 30.0, 10.0)]
    assert y.grad.item() == 2.0 and x.grad.item() == 30.0


def test_order_of_everything_on_a_leaf():
    seen = []
    x = leaf(2.0)
    y = x * 3
    node = y.grad_fn.next_functions[0][0]
    node.register_prehook(lambda g: seen.append(("pre", g[0].item())) or (g[0] * 5,))
    node.register_hook(lambda gi, go: seen.append(("post", gi, go[0].item())))
    x.register_hook(lambda g: seen.append(("tensor", g.item())) or g * 2)
    x.register_post_accumulate_grad_hook(lambda p: seen.append(("accumulated", p.grad.item())))
    y.backward()
    assert seen == [("tensor", 3.0), ("pre", 6.0), ("accumulated", 30.0), ("post", (), 30.0)]


def test_only_tensor_hooks_run_where_the_node_does_not():
    seen = []
    x = leaf(2.0)
    y = x * 3
    y.retain_grad()
    y.register_hook(lambda g: seen.append("tensor"))
    y.grad_fn.register_prehook(lambda g: seen.append("pre"))
    y.grad_fn.register_hook(lambda gi, go: seen.append("post"))
    torch.autograd.grad(y * 2, y)
    assert seen == ["tensor"] and y.grad.item() == 2.0


def test_accumulation_hooks_do_not_run_in_grad():
    seen = []
    x = leaf(2.0)
    y = x * 3
    y.grad_fn.next_functions[0][0].register_hook(lambda gi, go: seen.append("post"))
    x.register_post_accumulate_grad_hook(lambda p: seen.append("accumulated"))
    torch.autograd.grad(y, x)
    assert seen == []


# -- node hooks ---------------------------------------------------------------


def test_node_hooks_replace_gradients():
    x = leaf(2.0)
    y = x * 3
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 2,))
    y.grad_fn.register_hook(lambda grads, outs: tuple(None if g is None else g + 1 for g in grads))
    y.backward()
    assert x.grad.item() == 7.0


@pytest.mark.parametrize("stage", ["register_hook", "register_prehook"])
def test_node_hooks_can_stop_a_gradient(stage):
    x = leaf(2.0)
    y = x * 3
    getattr(y.grad_fn, stage)(lambda grads, *outs: (None,) * len(grads))
    y.backward()
    assert x.grad is None


def test_node_hook_results_are_checked():
    def backward_with(result, stage="register_hook"):
        x = leaf(2.0)
        y = x * 3
        getattr(y.grad_fn, stage)(lambda grads, *outs: result(grads))
        y.backward()

    for stage in ("register_hook", "register_prehook"):
        with pytest.raises(TypeError, match="expected tuple, but hook returned 'Tensor'"):
            backward_with(lambda grads: grads[0], stage)
        with pytest.raises(RuntimeError, match="has returned an incorrect number of values"):
            backward_with(lambda grads: grads + grads, stage)


def test_accumulate_grad_hook_may_change_what_is_accumulated():
    x = leaf(2.0)
    y = x * 3
    y.grad_fn.next_functions[0][0].register_prehook(lambda grads: (grads[0] * 10,))
    y.backward()
    assert x.grad.item() == 30.0


# -- hooks after accumulation -------------------------------------------------


def test_post_accumulate_hook_sees_and_may_reset_grad():
    seen = []
    x = leaf(2.0)

    def hook(parameter):
        seen.append(parameter.grad.item())
        parameter.grad = None

    handle = x.register_post_accumulate_grad_hook(hook)
    (x * 3).backward()
    (x * 4).backward()
    handle.remove()
    (x * 5).backward()
    assert seen == [3.0, 4.0] and x.grad.item() == 5.0


def test_a_post_accumulate_hook_returns_nothing():
    x = leaf(2.0)
    handle = x.register_post_accumulate_grad_hook(lambda p: p)  # nor would that replace anything
    (x * 3).backward()
    assert x.grad.item() == 3.0
    handle.remove()
    handle = x.register_post_accumulate_grad_hook(lambda p: p.grad * 10)
    with pytest.raises(RuntimeError, match="Tensor post accumulate grad hooks should return None"):
        (x * 3).backward()
    handle.remove()
    x.register_post_accumulate_grad_hook(lambda p: 5)
    with pytest.raises(TypeError, match="expected Variable, but hook returned 'int'"):
        (x * 3).backward()


def test_post_accumulate_hooks_are_for_leaves():
    with pytest.raises(RuntimeError, match="post accumulate grad hooks cannot be registered on non-leaf tensors"):
        (leaf(1.0) * 2).register_post_accumulate_grad_hook(print)


def test_post_accumulate_hook_may_run_an_optimizer_step():
    x = leaf(2.0)

    @torch.no_grad()
    def step(parameter):
        parameter -= 0.1 * parameter.grad
        parameter.grad = None

    x.register_post_accumulate_grad_hook(step)
    for _ in range(3):
        (x * x).backward()
    assert_close(x.detach(), torch.tensor(2.0 * 0.8**3))


# -- retain_grad --------------------------------------------------------------


def test_retain_grad_accumulates():
    x = leaf(2.0)
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    z = y * 3
    z.backward(retain_graph=True)
    z.backward()
    assert y.retains_grad and y.grad.item() == 6.0


def test_retain_grad_of_several_outputs_of_one_node():
    a, b = leaf(2.0, 3.0).unbind()
    a.retain_grad()
    b.retain_grad()
    (a * b).backward()
    assert (a.grad.item(), b.grad.item()) == (3.0, 2.0)


def test_retain_grad_of_a_leaf_does_nothing():
    x = leaf(1.0)
    x.retain_grad()
    assert not x.retains_grad


def test_backward_to_an_inner_tensor_retains_its_grad():
    x = leaf(2.0)
    y = x * 3
    y.register_hook(lambda g: g * 7)
    (y * 2).backward(inputs=[y])
    assert y.retains_grad and y.grad.item() == 14.0 and x.grad is None


def test_backward_to_an_inner_tensor_that_retains_already():
    x = leaf(2.0)
    y = x * 3
    y.retain_grad()
    (y * 2).backward(inputs=[y])
    assert y.grad.item() == 2.0


def test_retain_grad_holds_nothing():
    y = leaf(2.0) * 3
    y.retain_grad()
    z = y * 2
    ref = weakref.ref(y)
    del y
    assert ref() is None
    z.backward()


# -- hooks and in-place writes ------------------------------------------------


def test_hooks_belong_to_the_value_and_retain_grad_to_the_tensor():
    seen = []
    x = leaf(2.0)
    y = x * 3
    y.register_hook(lambda g: seen.append(("before", g.item())))
    y.retain_grad()
    y.mul_(4)
    assert y.retains_grad and y._backward_hooks is None
    y.register_hook(lambda g: seen.append(("after", g.item())))
    (y * 5).backward()
    assert seen == [("after", 5.0), ("before", 20.0)]
    assert y.grad.item() == 5.0 and x.grad.item() == 60.0


def test_write_through_a_view_moves_retain_grad_of_the_base():
    seen = []
    x = leaf(2.0, 3.0)
    y = x * 3
    y.register_hook(lambda g: seen.append(("before", g.tolist())))
    y.retain_grad()
    y[0].mul_(4)
    y.register_hook(lambda g: seen.append(("after", g.tolist())))
    (y * 5).sum().backward()
    assert seen == [("after", [5.0, 5.0]), ("before", [20.0, 5.0])]
    assert y.grad.tolist() == [5.0, 5.0]


@pytest.mark.parametrize("write", ["view", "base"])
def test_retain_grad_of_a_view_follows_writes(write):
    seen = []
    x = leaf(2.0, 3.0)
    y = x * 3
    v = y[0]
    v.register_hook(lambda g: seen.append("before"))
    v.retain_grad()
    (v if write == "view" else y).mul_(4)
    (v * 5 + y.sum()).backward()
    assert seen == []  # the value the hook was on is not used
    assert v.grad.item() == 5.0


@pytest.mark.skipif(not OURS, reason="PyTorch puts the new hook on the value from before the write, where it never runs")
def test_hook_on_a_view_after_its_base_was_written():
    seen = []
    x = leaf(2.0, 3.0)
    y = x * 3
    v = y[0]
    v.register_hook(lambda g: seen.append("before"))
    y.mul_(4)
    v.register_hook(lambda g: seen.append("after"))
    (v * 5).backward()
    assert seen == ["after"]


def test_hooks_of_views_see_their_part():
    seen = []
    x = leaf(1.0, 2.0, 3.0)
    y = x * 2
    v = y[1:]
    v.register_hook(lambda g: seen.append(g.tolist()) or g * 10)
    (v.sum() + y.sum()).backward()
    assert seen == [[1.0, 1.0]]
    assert x.grad.tolist() == [2.0, 22.0, 22.0]


# -- hooks and memory ---------------------------------------------------------


@pytest.mark.parametrize("where", ["tensor", "leaf", "node", "prehook", "post"])
def test_hooks_that_close_over_their_tensor_are_collected(where):
    def hooked():
        x = leaf(2.0)
        y = x * 3
        if where == "tensor":
            y.register_hook(lambda g: y)
        elif where == "leaf":
            x.register_hook(lambda g: (x, y))
        elif where == "node":
            y.grad_fn.register_hook(lambda gi, go: (y, None))
        elif where == "prehook":
            y.grad_fn.register_prehook(lambda go: (y, None))
        else:
            x.register_post_accumulate_grad_hook(lambda p: (x, y))
        return [weakref.ref(x), weakref.ref(y)]

    refs = hooked()
    gc.collect()
    assert [r() for r in refs] == [None, None]


def test_a_hook_may_run_backward():
    x = leaf(2.0)
    other = leaf(5.0)
    y = x * 3

    @torch.enable_grad()
    def hook(grad):
        (other * grad).backward()

    y.register_hook(hook)
    y.backward()
    assert x.grad.item() == 3.0 and other.grad.item() == 1.0


# -- what hooks may not return --------------------------------------------------


class _Drop(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        return None


def test_a_hook_cannot_make_a_gradient_from_none():
    y = leaf(1.0) * 2
    y.grad_fn.register_prehook(lambda grads: (torch.ones(()),))
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        _Drop.apply(y).backward()


def test_a_hook_cannot_change_the_device():
    y = leaf(1.0) * 2
    y.register_hook(lambda g: torch.ones((), device="meta"))
    with pytest.raises(RuntimeError, match="hook '<lambda>' has changed the type of value"):
        y.backward()


def test_a_hook_without_a_name():
    class Hook:
        def __call__(self, grad):
            return torch.ones(7)

    y = leaf(1.0) * 2
    y.register_hook(Hook())
    with pytest.raises(RuntimeError, match="hook '<unknown>' has changed the size of value"):
        y.backward()


def test_hooks_stay_with_a_tensor_that_is_detached():
    seen = []
    y = leaf(1.0) * 2
    y.register_hook(lambda g: seen.append(g.item()))
    y.detach_().requires_grad_()
    (y * 3).backward()
    assert seen == [3.0] and y.grad.item() == 3.0


def test_hooks_that_switch_gradients_on_do_so_for_their_node_only():
    seen = []
    x = leaf(1.0)
    y = x * 2
    z = y * 3
    z.register_hook(lambda g: torch.set_grad_enabled(True) and None)
    y.register_hook(lambda g: seen.append(torch.is_grad_enabled()))
    z.backward()
    assert seen == [False] and x.grad.grad_fn is None


def test_hooks_are_kept_in_dicts():
    y = leaf(1.0) * 2
    for name in ("_hooks", "_pre_hooks", "_tensor_hooks", "_retain_grad"):
        with pytest.raises(TypeError, match="hooks of a node are kept in a dict, got int"):
            setattr(y.grad_fn, name, 3)
    y.grad_fn._retain_grad = {0: 3}
    with pytest.raises(TypeError, match="weak reference"):
        y.backward()


def test_register_hook_dict():
    seen = []
    x = leaf(1.0)
    y, z = x * 2, x * 3
    y.register_hook(lambda g: seen.append(g.item()))
    z.grad_fn._register_hook_dict(y)
    z.backward()
    assert seen == [1.0]
    with pytest.raises(TypeError, match="_register_hook_dict expected a variable"):
        z.grad_fn._register_hook_dict({})


def test_pickling_warns_about_hooks():
    x = leaf(1.0)
    handle = x.register_hook(lambda g: g)
    with pytest.warns(UserWarning, match="backward hook .* on tensor will not be serialized"):
        pickle.dumps(x)
    handle.remove()
    x.register_hook(unserializable_hook(lambda g: g * 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pickle.dumps(x)
    (x * 2).backward()
    assert x.grad.item() == 4.0


# -- what a backward leaves as it found it -----------------------------------------------------------


NEVER_FREED = []


def run_with_hook(hook):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(hook)
    y.sum().backward()
    return x


def test_saved_tensor_hooks_entered_in_a_hook_end_with_the_backward():
    packed = []
    pair = torch.autograd.graph.saved_tensors_hooks(packed.append, lambda t: t)
    x = run_with_hook(lambda g: pair.__enter__())
    _ = x * x
    assert not packed
    with pytest.raises(RuntimeError, match="no saved tensor hooks"):
        pair.__exit__()


def test_functions_of_hooks_entered_in_a_backward_are_freed():
    class Pack:
        def __call__(self, t):
            return t

    def run():
        pack = Pack()
        pair = torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t)
        run_with_hook(lambda g: pair.__enter__())
        return weakref.ref(pack)

    alive = run()
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("how", ["hook", "grad", "unpack", "error"])
def test_saved_tensor_hooks_left_in_a_backward_are_there_afterwards(how):
    packed = []
    pair = torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t)
    other = torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: pair.__exit__() or t)

    def leave(g):
        pair.__exit__()
        if how == "error":
            raise ValueError("and on")

    x = torch.ones(2, requires_grad=True)
    with other:
        y = x.exp() if how == "unpack" else x * 2
    if how != "unpack":
        y.register_hook(leave)
    with pair:
        if how == "error":
            with pytest.raises(ValueError, match="and on"):
                y.sum().backward()
        elif how == "grad":
            torch.autograd.grad(y.sum(), x)
        else:
            y.sum().backward()
        _ = x * x
    assert packed


def test_disabling_of_saved_tensor_hooks_ends_with_the_backward():
    def disable(g):
        torch._C._disable_saved_tensors_hooks("not now")

    run_with_hook(disable)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        pass


def test_inference_mode_entered_in_a_hook_ends_with_the_backward():
    mode = torch.inference_mode()
    NEVER_FREED.append(mode)  # an inference mode ends with its object
    x = run_with_hook(lambda g: mode.__enter__())
    assert not torch.is_inference_mode_enabled()
    assert torch.is_grad_enabled()
    assert (x * 2).requires_grad


def test_inference_mode_left_in_a_hook_is_there_afterwards():
    mode = torch.inference_mode(False)
    NEVER_FREED.append(mode)
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    with torch.inference_mode():
        y.register_hook(lambda g: mode.__enter__())
        y.backward(torch.ones(2))
        assert torch.is_inference_mode_enabled()
        assert not torch.ones(2, requires_grad=True).mul(2).requires_grad


@pytest.mark.on_cpu("a default device is a mode")
def test_a_mode_entered_in_a_hook_ends_with_the_backward():
    seen = []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    mode = Mode()
    run_with_hook(lambda g: mode.__enter__() and None)
    count = len(seen)
    torch.ones(2).sin()
    assert len(seen) == count
    assert torch.overrides._get_current_function_mode() is None


def test_a_hook_on_the_accumulating_node_sees_the_memory_of_grad():
    t = torch.ones(3, requires_grad=True)
    node = torch.autograd.graph.get_gradient_edge(t).node

    def change(p):
        p.grad.add_(0.5)

    t.register_post_accumulate_grad_hook(change)
    seen = []
    node.register_hook(lambda ins, outs: seen.append((ins, outs[0].tolist(), outs[0].data_ptr() == t.grad.data_ptr(), outs[0] is t.grad)))
    (t * 1.0).sum().backward()
    assert seen == [((), [1.5] * 3, True, False)] and t.grad.tolist() == [1.5] * 3
    (t * 1.0).sum().backward()  # added to what is there: the gradient itself
    assert seen[1] == ((), [1.0] * 3, False, False) and t.grad.tolist() == [3.0] * 3
    t.grad = None
    (t * 1.0).sum().backward(create_graph=True)  # has a history: .grad is a copy of it
    assert seen[2][2] is False


def test_a_hook_on_the_accumulating_node_sees_a_gradient_that_is_dropped():
    t = torch.ones(3, requires_grad=True)
    node = torch.autograd.graph.get_gradient_edge(t).node
    t.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", None))
    seen = []
    node.register_hook(lambda ins, outs: seen.append(outs[0].tolist()))
    (t * 2.0).sum().backward()
    assert seen == [[2.0] * 3] and t.grad is None
