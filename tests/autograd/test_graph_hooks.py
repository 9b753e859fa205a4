"""autograd.graph: edges, hooks for several tensors, hooks on saved tensors, writes to saved tensors."""

import gc
import threading
import weakref

import pytest

import retrograd as torch
from retrograd.autograd import graph
from retrograd.testing import assert_close

OURS = torch.__name__ == "retrograd"


def leaf(*values):
    return torch.tensor(values if len(values) > 1 else values[0], requires_grad=True)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x


# -- nodes and edges ----------------------------------------------------------


def test_every_grad_fn_is_a_node():
    x = leaf(1.0)
    y = x * 2
    for node in (y.grad_fn, y.grad_fn.next_functions[0][0], Square.apply(x).grad_fn):
        assert isinstance(node, graph.Node) and issubclass(type(node), graph.Node)
    assert not isinstance(3, graph.Node)
    with pytest.raises(TypeError):
        graph.Node()


def test_metadata_is_the_users():
    node = (leaf(1.0) * 2).grad_fn
    node.metadata["name"] = "double"
    assert node.metadata == {"name": "double"}


def test_gradient_edge():
    x = leaf(2.0)
    y = x * 3
    edge = graph.get_gradient_edge(y)
    assert edge.node is y.grad_fn and edge.output_nr == 0
    _, b = leaf(1.0, 2.0).unbind()
    assert graph.get_gradient_edge(b).output_nr == 1
    assert graph.get_gradient_edge(x).node.name() == "torch::autograd::AccumulateGrad"
    with pytest.raises(RuntimeError, match="It is not possible to get the gradient edge for a Tensor that does not require gradients"):
        graph.get_gradient_edge(torch.ones(2))


def test_edges_stand_for_tensors():
    x = leaf(2.0)
    y = x * 3
    z = y * 2
    y_edge, z_edge, x_edge = (graph.get_gradient_edge(t) for t in (y, z, x))
    assert torch.autograd.grad(z, y_edge, retain_graph=True)[0].item() == 2.0
    assert torch.autograd.grad(z_edge, x, grad_outputs=torch.tensor(5.0), retain_graph=True)[0].item() == 30.0
    assert torch.autograd.grad(z_edge, [x_edge], retain_graph=True)[0].item() == 6.0
    torch.autograd.backward(z_edge, torch.tensor(1.0), retain_graph=True)
    assert x.grad.item() == 6.0
    z.backward(inputs=[x_edge])
    assert x.grad.item() == 12.0


def test_an_edge_does_not_keep_its_tensor():
    x = leaf(2.0)
    y = x * 3
    edge, ref = graph.get_gradient_edge(y), weakref.ref(y)
    del y
    assert ref() is None
    torch.autograd.backward(edge, torch.tensor(1.0))
    assert x.grad.item() == 3.0


def test_edge_of_a_vector_needs_a_gradient():
    edge = graph.get_gradient_edge(leaf(1.0, 2.0) * 2)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        torch.autograd.backward(edge)


# -- one hook for several tensors ---------------------------------------------


def four():
    ts = [torch.ones(2, requires_grad=True) for _ in range(4)]
    return ts, ts[0] + ts[1], ts[2] * 2


def test_multi_grad_hook_all():
    seen = []
    ts, a, b = four()
    handle = graph.register_multi_grad_hook(ts, lambda grads: seen.append([g is not None for g in grads]))
    (a + b).sum().backward(retain_graph=True)
    a.sum().backward(retain_graph=True)
    a.sum().backward(inputs=ts[:1], retain_graph=True)
    handle.remove()
    a.sum().backward()
    assert seen == [[True, True, True, False], [True, True, False, False], [True, False, False, False]]


def test_multi_grad_hook_any():
    seen = []
    ts, a, b = four()
    handle = graph.register_multi_grad_hook(ts, lambda grad: seen.append(tuple(grad.shape)), mode="any")
    (a + b).sum().backward(retain_graph=True)
    torch.autograd.grad(b.sum(), ts[2], retain_graph=True)
    handle.remove()
    b.sum().backward()
    assert seen == [(2,), (2,)]


def test_multi_grad_hook_of_inner_tensors():
    seen = []
    x = leaf(2.0)
    y, w = x * 2, x * 3
    graph.register_multi_grad_hook([y, w, x], lambda grads: seen.append([g.item() for g in grads]))
    (y * w).backward()
    assert seen == [[6.0, 4.0, 24.0]]


@pytest.mark.skipif(not OURS, reason="PyTorch calls the hook twice, once for the root and once for the rest")
def test_multi_grad_hook_with_the_root_among_its_tensors():
    seen = []
    x = leaf(2.0)
    y, w = x * 2, x * 3
    graph.register_multi_grad_hook([y, w, x], lambda grads: seen.append([None if g is None else g.item() for g in grads]))
    y.backward()
    assert seen == [[1.0, None, 2.0]]


@pytest.mark.skipif(not OURS, reason="PyTorch refuses leaves here")
def test_multi_grad_hook_in_grad():
    seen = []
    ts, a, b = four()
    graph.register_multi_grad_hook(ts, lambda grads: seen.append([g is not None for g in grads]))
    torch.autograd.grad((a + b).sum(), ts[2])
    assert seen == [[False, False, True, False]]


def test_multi_grad_hook_errors():
    with pytest.raises(ValueError, match="Expects mode to be one of"):
        graph.register_multi_grad_hook([leaf(1.0)], print, mode="some")
    with pytest.raises(AssertionError, match="Expected gradient function to be set"):
        graph.register_multi_grad_hook([torch.ones(2)], print)

    def fail(grads):
        raise ValueError("in the hook")

    x = leaf(1.0)
    graph.register_multi_grad_hook([x], fail)
    with pytest.raises(ValueError, match="in the hook"):
        (x * 2).backward()


def test_a_backward_that_fails_half_way_leaves_nothing_for_the_next():
    seen, grads = [], []
    x, y = leaf(1.0), leaf(2.0)
    graph.register_multi_grad_hook([x, y], lambda grads: seen.append([g.item() for g in grads]))
    z = x * 2
    z.register_hook(lambda g: grads.append(weakref.ref(g)))
    failing = y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        (z * y).backward(retain_graph=True)
    failing.remove()
    (z * y).backward()
    assert seen == [[4.0, 2.0]]


# -- saved tensor hooks -------------------------------------------------------


def test_pack_and_unpack_see_what_is_saved():
    seen = []
    x = leaf(2.0, 3.0)
    with graph.saved_tensors_hooks(lambda t: seen.append(("pack", t.tolist())) or t, lambda t: seen.append(("unpack", t.tolist())) or t):
        y = x * x
        z = x.sin()
    assert seen == [("pack", [2.0, 3.0])] * 3
    seen.clear()
    y.sum().backward()
    z.sum().backward()
    assert seen == [("unpack", [2.0, 3.0])] * 3


def test_packed_objects_of_any_kind():
    store = {}

    def pack(t):
        store[len(store)] = t.detach().clone()
        return len(store) - 1

    x = leaf(2.0, 3.0)
    with graph.saved_tensors_hooks(pack, store.__getitem__):
        y = (x * x).exp()
    y.sum().backward()
    assert_close(x.grad, 2 * x.detach() * (x.detach() ** 2).exp())


def test_the_unpacked_tensor_is_what_backward_uses():
    x = leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t * 10):
        y = x * x
    y.backward()
    assert x.grad.item() == 40.0


def test_the_innermost_pair_is_used():
    seen = []
    x = leaf(1.0)
    with graph.saved_tensors_hooks(lambda t: seen.append("outer") or t, lambda t: seen.append("outer back") or t):
        with graph.saved_tensors_hooks(lambda t: seen.append("inner") or t, lambda t: seen.append("inner back") or t):
            y = x.exp()
        z = y.sin()
    z.backward()
    assert seen == ["inner", "outer", "outer back", "inner back"]


def test_hooks_hold_only_inside_the_block():
    seen = []
    x = leaf(1.0)
    with graph.saved_tensors_hooks(lambda t: seen.append("pack") or t, lambda t: t):
        pass
    x.exp()
    assert seen == []


def test_hooks_hold_for_one_thread():
    seen = []
    x = leaf(1.0)
    with graph.saved_tensors_hooks(lambda t: seen.append("pack") or t, lambda t: t):
        thread = threading.Thread(target=lambda: x.exp())
        thread.start()
        thread.join()
    assert seen == []


def test_what_a_pack_hook_computes_is_neither_packed_nor_recorded():
    modes = []

    def pack(t):
        modes.append(torch.is_grad_enabled())
        return t * 2

    x = leaf(3.0)
    with graph.saved_tensors_hooks(pack, lambda t: t / 2):
        y = x * x
    y.backward()
    assert modes == [False, False] and x.grad.item() == 6.0


@pytest.mark.parametrize("op", ["exp", "sin", "mul"])
def test_second_derivative_through_packed_data(op):
    def f(x):
        y = {"exp": lambda: x.exp(), "sin": lambda: x.sin(), "mul": lambda: (x * x) * x}[op]()
        return (y * y).sum()

    def second():
        x = leaf(0.5, 0.7)
        (g,) = torch.autograd.grad(f(x), x, create_graph=True)
        return torch.autograd.grad(g.sum(), x)[0]

    plain = second()
    with graph.saved_tensors_hooks(lambda t: t.tolist(), lambda v: torch.tensor(v)):
        packed = second()
    assert_close(plain, packed)


def test_saved_attributes_are_unpacked_with_their_history():
    x = leaf(1.0, 2.0)
    with graph.saved_tensors_hooks(lambda t: t.tolist(), lambda v: torch.tensor(v)):
        y = x.exp()
        z = y * x
    assert y.grad_fn._saved_result.grad_fn is y.grad_fn
    assert z.grad_fn._saved_self.grad_fn is y.grad_fn
    other = z.grad_fn._saved_other
    assert other.requires_grad and other.tolist() == [1.0, 2.0]


def test_custom_functions_are_packed_too():
    seen = []
    x = leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: seen.append("pack") or t, lambda t: seen.append("unpack") or t * 3):
        y = Square.apply(x)
    y.backward()
    assert seen == ["pack", "unpack"] and x.grad.item() == 12.0


def test_pack_must_not_write():
    def pack(t):
        t.mul_(2)
        return t

    x = leaf(1.0)
    with (
        graph.saved_tensors_hooks(pack, lambda t: t),
        pytest.raises(RuntimeError, match="A saved tensor pack hook is modifying its input in place"),
    ):
        x * x


def test_unpack_must_return_a_tensor():
    x = leaf(1.0)
    with graph.saved_tensors_hooks(lambda t: 1, lambda n: n):
        y = x * x
    with pytest.raises(TypeError, match="Output of saved tensor unpack_hook expected to be a Tensor but got result of type int"):
        y.backward()


def test_exceptions_of_hooks_come_through():
    def fail(t):
        raise KeyError("boom")

    x = leaf(1.0)
    with graph.saved_tensors_hooks(fail, lambda t: t), pytest.raises(KeyError, match="boom"):
        x * x
    with graph.saved_tensors_hooks(lambda t: t, fail):
        y = x * x
    with pytest.raises(KeyError, match="boom"):
        y.backward()
    (x * x).backward()
    assert x.grad.item() == 2.0


def test_packed_data_is_freed_with_the_graph():
    class Box:
        def __init__(self, tensor):
            self.tensor = tensor

    boxes = []

    def pack(t):
        box = Box(t)
        boxes.append(weakref.ref(box))
        return box

    x = leaf(1.0)
    with graph.saved_tensors_hooks(pack, lambda box: box.tensor):
        y = x.exp()
    y.backward()
    assert [b() for b in boxes] == [None]


@pytest.mark.skipif(not OURS, reason="PyTorch leaks this cycle")
def test_a_cycle_through_packed_data_is_collected():
    def cycle():
        boxes = []

        def pack(t):
            boxes.append(t)
            return boxes

        with graph.saved_tensors_hooks(pack, lambda box: box[0]):
            y = leaf(1.0).exp()
        boxes.append(y)
        return weakref.ref(y)

    ref = cycle()
    gc.collect()
    assert ref() is None


def test_hooks_on_one_saved_tensor():
    x = leaf(2.0)
    y = x * x
    raw = y.grad_fn._raw_saved_self
    raw.register_hooks(lambda t: ("packed", t), lambda p: p[1] * 2)
    with pytest.raises(RuntimeError, match="Calling register_hooks on a saved tensor whose hooks have already been set"):
        raw.register_hooks(lambda t: t, lambda t: t)
    y.backward()
    assert x.grad.item() == 6.0
    with pytest.raises(RuntimeError, match="Calling register_hooks on a saved tensor after it has been freed"):
        raw.register_hooks(lambda t: t, lambda t: t)


def test_hooks_on_a_saved_tensor_of_a_custom_function():
    x = leaf(2.0)
    y = Square.apply(x)
    y.grad_fn._raw_saved_tensors[0].register_hooks(lambda t: t, lambda t: t * 3)
    y.backward()
    assert x.grad.item() == 12.0


def test_save_on_cpu():
    for pin in (False, True):
        x = leaf(2.0, 3.0)
        with graph.save_on_cpu(pin_memory=pin):
            y = (x * x).exp()
        y.sum().backward()
        assert_close(x.grad, 2 * x.detach() * (x.detach() ** 2).exp())


def test_disable_saved_tensors_hooks():
    with graph.disable_saved_tensors_hooks("not here"):
        with pytest.raises(RuntimeError, match="not here"), graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            pass
        with graph.disable_saved_tensors_hooks("nor there"):
            pass
        with pytest.raises(RuntimeError, match="not here"), graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            pass
    with (
        graph.saved_tensors_hooks(lambda t: t, lambda t: t),
        pytest.raises(RuntimeError, match="not here"),
        graph.disable_saved_tensors_hooks("not here"),
    ):
        pass


# -- versions and writes ------------------------------------------------------


def test_increment_version():
    x = leaf(2.0)
    y = x * 1
    z = y * y
    before = y._version
    graph.increment_version(y)
    assert y._version == before + 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()
    a, b = torch.ones(2), torch.ones(2)
    graph.increment_version([a, b])
    assert a._version == b._version == 1


def test_saved_tensors_may_be_written():
    with graph.allow_mutation_on_saved_tensors() as context:
        x = leaf(1.0, 2.0)
        y = x.clone()
        out = (y**2).sum()
        y.sin_()
        out.backward()
        context.clear()
    assert_close(x.grad, torch.tensor([2.0, 4.0]))


def test_saved_tensors_may_be_written_through_views():
    with graph.allow_mutation_on_saved_tensors():
        x = leaf(1.0, 2.0)
        y = x.clone()
        out = (y * y).sum()
        y[0].mul_(7)
        y[1:] = 5
        out2 = (y * y).sum()
        (out + out2).backward()
    assert_close(x.grad, torch.tensor([2.0 + 2 * 7 * 7, 4.0]))


def test_saved_outputs_may_be_written():
    with graph.allow_mutation_on_saved_tensors():
        x = leaf(1.0, 2.0)
        y = x.exp()
        y.zero_()
        z = x.exp()
        w = z.sum()
        z.mul_(0)
        w.backward()
    assert_close(x.grad, x.detach().exp())


def test_only_what_is_written_is_copied():
    with graph.allow_mutation_on_saved_tensors():
        x = leaf(1.0, 2.0)
        y = x.clone()
        out = (y * y).sum()
        assert out.grad_fn.next_functions[0][0]._saved_self.data_ptr() == y.data_ptr()
        with torch.no_grad():
            x.mul_(2)
        out.backward()
    assert_close(x.grad, torch.tensor([2.0, 4.0]))


def test_backward_belongs_inside_the_block():
    with graph.allow_mutation_on_saved_tensors():
        x = leaf(1.0, 2.0)
        y = (x.clone() ** 2).sum()
    with pytest.raises(AssertionError, match="Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"):
        y.backward()


def test_blocks_do_not_nest():
    with (
        graph.allow_mutation_on_saved_tensors(),
        pytest.raises(RuntimeError, match="allow_mutation_on_saved_tensors contexts cannot be nested"),
        graph.allow_mutation_on_saved_tensors(),
    ):
        pass
    with graph.allow_mutation_on_saved_tensors():
        pass
