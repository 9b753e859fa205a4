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
@pytest.mark.on_cpu("a backward makes its tensors on the CPU under a default device, as in PyTorch")
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


# -- edges and nodes by hand ----------------------------------------------------


def test_an_edge_to_an_output_that_is_not_there():
    x = leaf(1.0, 2.0)
    first = (x * 2).unbind()[0]
    one = torch.ones(())
    for bad in (2, 5):
        edge = graph.GradientEdge(first.grad_fn, bad)
        with pytest.raises(RuntimeError, match=rf"UnbindBackward0 has 2 output\(s\), got output_nr {bad}"):
            torch.autograd.grad(edge, x, one)
        with pytest.raises(RuntimeError, match="got output_nr"):
            torch.autograd.grad(first, edge)
    with pytest.raises(OverflowError):
        torch.autograd.grad(graph.GradientEdge(first.grad_fn, -1), x, one)
    with pytest.raises(TypeError):
        torch.autograd.grad(graph.GradientEdge(first.grad_fn, "a"), x, one)


@pytest.mark.on_cpu("it names the device in what it expects")
def test_gradients_of_edges_are_checked():
    x = leaf(1.0, 2.0)
    edge = graph.get_gradient_edge(x * x)
    with pytest.raises(RuntimeError, match=r"Mismatch in shape: grad_output\[0\] has a shape of torch.Size\(\[3\]\)"):
        torch.autograd.grad(edge, x, torch.ones(3))
    with pytest.raises(RuntimeError, match="invalid gradient at index 0 - expected device cpu but got meta"):
        torch.autograd.grad(edge, x, torch.ones(2, device="meta"))
    (grad,) = torch.autograd.grad(edge, x, torch.ones(2).double())
    assert grad.dtype is torch.float32
    function = graph.GradientEdge(Square.apply(x).grad_fn, 0)  # knows its outputs
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        torch.autograd.grad(function, x, torch.ones(3))


def test_calling_a_node():
    node = (leaf(1.0) * 3).grad_fn
    assert node(torch.tensor(2.0))[0].item() == 6.0
    assert node(None) == (None, None)
    with pytest.raises(TypeError, match="argument 0 is not a Variable"):
        node(3)
    for arguments in ((), (None, None)):
        with pytest.raises(TypeError, match=f"expected 1 arguments, got {len(arguments)} instead"):
            node(*arguments)


def test_types_of_nodes_by_name():
    functions = torch._C._functions
    x = leaf(1.0)
    assert type((x * 2).grad_fn) is functions.MulBackward0 and "MulBackward0" in dir(functions)
    assert type(graph.get_gradient_edge(x).node) is functions.AccumulateGrad
    with pytest.raises(AttributeError, match="NothingBackward0"):
        functions.NothingBackward0


def test_delayed_error():
    x = leaf(2.0)
    first, second = torch._C._functions.DelayedError("not this way", 2)(x, x * 3)
    assert (first.item(), second.item()) == (2.0, 6.0) and first.grad_fn is second.grad_fn
    assert first.grad_fn.name() == "torch::autograd::Error"
    with pytest.raises(RuntimeError, match="not this way"):
        second.backward()
    assert torch._C._functions.DelayedError("not this way", 1)(torch.ones(2)).grad_fn is None
    with pytest.raises(TypeError, match="expected 1 arguments, got 2 instead"):
        torch._C._functions.DelayedError("not this way", 1)(x, x)
    with pytest.raises(TypeError, match="argument 0 is not a Variable"):
        torch._C._functions.DelayedError("not this way", 1)(3)


def test_undefined_grad():
    x = leaf(2.0)
    y = torch._C._functions.UndefinedGrad()(x * 1)
    assert y.grad_fn.name() == "torch::autograd::UndefinedGradBackward"
    y.backward()
    assert x.grad is None


# -- saved tensors ----------------------------------------------------------------


@pytest.mark.parametrize("pair", [(1, 2), (None, lambda t: t), (lambda t: t, None)])
def test_pack_and_unpack_must_be_callable(pair):
    with pytest.raises(TypeError, match="both must be callable"), graph.saved_tensors_hooks(*pair):
        pass
    with pytest.raises(TypeError, match="both must be callable"):
        (leaf(1.0) * leaf(2.0)).grad_fn._raw_saved_self.register_hooks(*pair)


def test_an_unpacked_leaf_is_a_leaf():
    x = leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        y = x * x
    unpacked = y.grad_fn._saved_self
    assert unpacked is not x and unpacked.is_leaf and unpacked.requires_grad and unpacked.grad_fn is None
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        unpacked.mul_(2)
    (unpacked * 5).backward()  # the gradient goes where that of the leaf goes
    assert x.grad.item() == 5.0


def test_hooks_on_one_saved_tensor_see_it_without_history():
    seen = []
    y = leaf(2.0) * leaf(3.0)
    y.grad_fn._raw_saved_self.register_hooks(lambda t: seen.append(t.requires_grad) or t, lambda t: t)
    assert seen == [False] and y.grad_fn._saved_self.requires_grad


def test_increment_version_wants_tensors():
    for bad in (3, [3], [torch.ones(1), "a"]):
        with pytest.raises(RuntimeError, match="increment_version expect"):
            graph.increment_version(bad)


@pytest.mark.parametrize("write", [False, True])
def test_clear_drops_what_was_saved(write):
    x = leaf(2.0)
    with graph.allow_mutation_on_saved_tensors() as context:
        y = x * 1
        z = y * y
        if write:
            y.mul_(5)
        context.clear()
        with pytest.raises(AssertionError, match="Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"):
            z.backward()


def test_writes_through_out_are_seen():
    x, c = leaf(1.0, 2.0), torch.ones(2)
    with graph.allow_mutation_on_saved_tensors():
        z = (x * c).sum()
        torch.add(c, 1, out=c)
        z.backward()
    assert x.grad.tolist() == [1.0, 1.0] and c.tolist() == [2.0, 2.0]


def test_writes_that_are_not_seen_are_an_error():
    x, c = leaf(1.0, 2.0), torch.ones(2)
    with graph.allow_mutation_on_saved_tensors():
        z = (x * c).sum()
        graph.increment_version(c)
        with pytest.raises(RuntimeError, match="modified by an inplace operation that 'allow_mutation_on_saved_tensors' could not see"):
            z.backward()


def test_multi_grad_hook_any_passes_over_tensors_without_grad():
    seen = []
    x = leaf(1.0)
    graph.register_multi_grad_hook((torch.ones(1), x), seen.append, mode="any")
    (x * 2).backward()
    assert [g.item() for g in seen] == [2.0]


@pytest.mark.on_cpu("it counts the memory of the CPU")
def test_a_write_copies_what_was_saved_once():
    x = torch.ones(2**16, requires_grad=True)
    with graph.allow_mutation_on_saved_tensors():
        a = x.clone()
        results = [a.sin() for _ in range(6)] + [a.view(2, -1).cos()]
        before = torch.memory_allocated()
        a.add_(1)
        assert torch.memory_allocated() - before == 2 * 2**18  # the six share one copy, the other shape has its own
        again = [a.sin() for _ in range(2)]
        a.add_(1)
        assert torch.memory_allocated() - before == 3 * 2**18 + 2 * 2**18  # and one for the second version
        sum(r.sum() for r in results + again).backward()
    one, two = torch.ones(()), torch.full((), 2.0)
    assert_close(x.grad[0], 6 * one.cos() - one.sin() + 2 * two.cos())
