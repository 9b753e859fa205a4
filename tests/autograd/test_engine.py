"""backward and autograd.grad: what flows where, what is kept, what is refused."""

import gc
import threading
import weakref

import pytest

import retrograd as torch
from retrograd.testing import assert_close


def leaf(*values):
    return torch.tensor(values if len(values) > 1 else values[0], requires_grad=True)


def node_names(tensor):
    """Names of the nodes reachable from a tensor, breadth first, each node once."""
    names, queue, seen = [], [tensor.grad_fn], set()
    while queue:
        node = queue.pop(0)
        if node is None or node in seen:
            continue
        seen.add(node)
        names.append(node.name().rpartition("::")[2])
        queue += [n for n, _ in node.next_functions]
    return names


# -- gradients ----------------------------------------------------------------


def test_chain_rule():
    x = leaf(0.5)
    y = (x * x).sin()
    y.backward()
    assert_close(x.grad, torch.cos(torch.tensor(0.25)) * 2 * 0.5)


def test_a_tensor_used_twice_collects_both_gradients():
    x = leaf(3.0)
    (x * x + 2 * x).backward()
    assert x.grad.item() == 8.0


def test_diamond():
    x = leaf(2.0)
    a = x * 3
    (a * a + a).backward()
    assert x.grad.item() == 2 * 9 * 2 + 3


def test_broadcast_gradients_are_summed():
    row, column = torch.ones(3, requires_grad=True), torch.ones(2, 1, requires_grad=True)
    (row * column).sum().backward()
    assert row.grad.tolist() == [2.0, 2.0, 2.0]
    assert column.grad.tolist() == [[3.0], [3.0]]


def test_gradient_argument():
    x = leaf(1.0, 2.0)
    (x * 3).backward(torch.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [3.0, 30.0]


def test_gradients_accumulate_in_place():
    x = leaf(1.0, 2.0)
    (x * 2).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    assert x.grad is first
    assert x.grad.tolist() == [5.0, 5.0]
    x.grad = None
    (x * 3).sum().backward()
    assert first.tolist() == [5.0, 5.0] and x.grad.tolist() == [3.0, 3.0]


def test_the_gradient_given_is_not_kept():
    x, g = leaf(1.0, 2.0), torch.ones(2)
    x.backward(g)
    x.grad.add_(5)
    assert g.tolist() == [1.0, 1.0]


def test_two_leaves_do_not_share_a_gradient():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x + y).sum().backward()
    x.grad.mul_(7)
    assert y.grad.tolist() == [1.0, 1.0]


def test_backward_of_several_tensors():
    x = leaf(2.0)
    torch.autograd.backward([x * 3, x * x])
    assert x.grad.item() == 7.0
    y = leaf(1.0, 1.0)
    torch.autograd.backward([y * 2, y.sum()], [torch.tensor([1.0, 2.0]), None])
    assert y.grad.tolist() == [3.0, 5.0]


def test_backward_of_a_leaf():
    x = leaf(2.0)
    x.backward()
    assert x.grad.item() == 1.0


def test_no_gradient_for_what_does_not_require_it():
    x, constant = leaf(2.0), torch.tensor(3.0)
    y = x * constant
    y.backward()
    assert constant.grad is None
    assert y.grad_fn.next_functions[1][0] is None


def test_constants_cut_the_graph():
    x = leaf(2.0)
    y = x.detach() * 3
    assert not y.requires_grad
    z = x * 3 + y
    z.backward()
    assert x.grad.item() == 3.0


def test_integers_and_bools_have_no_history():
    x = leaf(1.0, 2.0)
    assert not (x > 1).requires_grad
    assert not x.argmax().requires_grad
    assert not x.long().requires_grad
    values, indices = x.max(0)
    assert values.requires_grad and not indices.requires_grad


def test_gradient_keeps_the_dtype_of_its_tensor():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    h = torch.ones(2, dtype=torch.float16, requires_grad=True)
    (x * h).sum().backward()
    assert x.grad.dtype == torch.float64 and h.grad.dtype == torch.float16


def test_gradient_follows_the_strides_of_its_tensor():
    x = torch.ones(3, 2).t().requires_grad_()
    (x * torch.ones(2, 3)).sum().backward()
    assert x.grad.stride() == x.stride()


def test_empty_tensors():
    x = torch.ones(0, 3, requires_grad=True)
    x.sum().backward()
    assert x.grad.shape == (0, 3)


# -- autograd.grad ------------------------------------------------------------


def test_grad_leaves_grad_alone():
    x = leaf(3.0)
    (g,) = torch.autograd.grad(x * x, x)
    assert g.item() == 6.0
    assert x.grad is None


def test_grad_of_inner_nodes():
    x = leaf(3.0)
    y = x * 2
    z = y * y
    gy, gx = torch.autograd.grad(z, [y, x])
    assert (gy.item(), gx.item()) == (12.0, 24.0)


def test_grad_of_an_output_itself():
    x = leaf(3.0)
    y = x * 2
    assert torch.autograd.grad(y, y)[0].item() == 1.0


def test_same_input_twice():
    x = leaf(3.0)
    a, b = torch.autograd.grad(x * x, [x, x])
    assert a.item() == b.item() == 6.0


def test_grad_outputs():
    x = leaf(1.0, 2.0)
    (g,) = torch.autograd.grad([x * 2, x * 3], x, [torch.ones(2), torch.tensor([0.0, 1.0])])
    assert g.tolist() == [2.0, 5.0]
    (g,) = torch.autograd.grad(x * 2, x, grad_outputs=torch.ones(2))
    assert g.tolist() == [2.0, 2.0]


def test_unused_input():
    x, y = leaf(1.0), leaf(2.0)
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        torch.autograd.grad(x * 2, [x, y])
    gx, gy = torch.autograd.grad(x * 2, [x, y], allow_unused=True)
    assert gx.item() == 2.0 and gy is None
    gx, gy = torch.autograd.grad(x * 2, [x, y], materialize_grads=True)
    assert gx.item() == 2.0 and gy.item() == 0.0


def test_materialize_without_allow_unused():
    x, y = leaf(1.0), leaf(2.0)
    with pytest.raises(ValueError, match="allow_unused"):
        torch.autograd.grad(x * 2, [x, y], allow_unused=False, materialize_grads=True)


def test_input_without_grad():
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match="One of the differentiated Tensors does not require grad"):
        torch.autograd.grad(x * 2, torch.ones(1))


def test_batched_grad():
    x = leaf(1.0, 2.0, 3.0)
    (g,) = torch.autograd.grad(x * x, x, torch.eye(3), is_grads_batched=True)
    assert g.tolist() == [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]


# -- inputs= ------------------------------------------------------------------


def test_inputs_limits_who_gets_a_gradient():
    x, y = leaf(2.0), leaf(3.0)
    (x * y).backward(inputs=[x])
    assert x.grad.item() == 3.0 and y.grad is None
    (x * y).backward(inputs=y)
    assert y.grad.item() == 2.0 and x.grad.item() == 3.0


def test_inputs_may_be_inner():
    x = leaf(2.0)
    y = x * 3
    (y * y).backward(inputs=[y])
    assert y.grad.item() == 12.0 and x.grad is None


def test_inputs_may_not_be_empty():
    with pytest.raises(RuntimeError, match="cannot be empty"):
        leaf(2.0).backward(inputs=[])


# -- a graph is used once -----------------------------------------------------


def test_second_backward_is_refused():
    x = leaf(2.0)
    y = x * x
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()
    assert x.grad.item() == 4.0


def test_second_backward_that_needs_nothing_saved():
    x = leaf(2.0)
    y = x + 1
    y.backward()
    y.backward()
    assert x.grad.item() == 2.0


def test_part_of_a_freed_graph():
    x = leaf(2.0)
    shared = x * x
    (shared + 1).backward()
    with pytest.raises(RuntimeError, match="second time"):
        (shared * 2).backward()


def test_retain_graph():
    x = leaf(2.0)
    y = x * x
    for i in range(1, 4):
        y.backward(retain_graph=True)
        assert x.grad.item() == 4.0 * i
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_grad_retains_on_request():
    x = leaf(2.0)
    y = x * x
    torch.autograd.grad(y, x, retain_graph=True)
    torch.autograd.grad(y, x)
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(y, x)


# -- create_graph -------------------------------------------------------------


def test_higher_derivatives():
    x = leaf(2.0)
    y = x**5
    for expected in (80.0, 160.0, 240.0, 240.0, 120.0):
        (y,) = torch.autograd.grad(y, x, create_graph=True)
        assert_close(y.item(), expected, rtol=1e-6, atol=0.0)
    (g,) = torch.autograd.grad(y, x, create_graph=True, allow_unused=True)
    assert g is None or g.item() == 0.0


def test_mixed_second_derivative():
    x, y = leaf(2.0), leaf(3.0)
    (gx,) = torch.autograd.grad(x * x * y, x, create_graph=True)
    assert gx.requires_grad
    (gxy,) = torch.autograd.grad(gx, y)
    assert gxy.item() == 4.0


def test_backward_with_create_graph():
    x = leaf(2.0)
    y = x * x * x
    y.backward(create_graph=True)
    assert x.grad.requires_grad
    grad, x.grad = x.grad, None
    grad.backward()
    assert x.grad.item() == 12.0


def test_gradients_have_no_history_by_default():
    x = leaf(2.0)
    (g,) = torch.autograd.grad(x * x, x)
    assert not g.requires_grad
    (x * x).backward()
    assert not x.grad.requires_grad


def test_second_derivative_through_grad_outputs():
    x, v = leaf(1.0, 2.0), leaf(1.0, 1.0)
    (g,) = torch.autograd.grad(x * x, x, v, create_graph=True)
    (gv,) = torch.autograd.grad(g.sum(), v)
    assert gv.tolist() == [2.0, 4.0]


def test_hessian_vector_product():
    x = leaf(1.0, 2.0, 3.0)
    v = torch.tensor([1.0, 0.0, -1.0])
    (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (hv,) = torch.autograd.grad(g, x, v)
    assert_close(hv, 6 * x.detach() * v)


# -- refusals -----------------------------------------------------------------


def test_not_a_scalar():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        (x * 2).backward()
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        torch.autograd.grad(x * 2, x)


def test_one_element_is_scalar_enough():
    x = torch.ones(1, 1, requires_grad=True)
    (x * 2).backward()
    assert x.grad.tolist() == [[2.0]]


def test_no_history():
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad and does not have a grad_fn"):
        torch.ones(1).backward()
    with pytest.raises(RuntimeError, match="element 1 of tensors does not require grad"):
        torch.autograd.backward([leaf(1.0), torch.ones(())])


def test_gradient_of_wrong_shape():
    with pytest.raises(RuntimeError, match=r"[Mm]ismatch in shape"):
        (leaf(1.0, 2.0) * 2).backward(torch.ones(3))


@pytest.mark.parametrize("gradient", [1.0, [1.0, 1.0]])
def test_gradient_of_wrong_type(gradient):
    with pytest.raises((TypeError, RuntimeError)):
        (leaf(1.0, 2.0) * 2).backward(gradient)


def test_wrong_number_of_gradients():
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match="got 2 tensors and 1 gradients"):
        torch.autograd.backward([x * 2, x * 3], [torch.tensor(1.0)])


def test_refusals_leave_the_graph_usable():
    x = leaf(1.0, 2.0)
    y = x * x
    with pytest.raises(RuntimeError):
        y.backward()
    with pytest.raises(RuntimeError):
        y.backward(torch.ones(3))
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


# -- what a graph looks like --------------------------------------------------

NODES = [
    (lambda x: x + x, "AddBackward0"),
    (lambda x: x - 1, "SubBackward0"),
    (lambda x: 1 - x, "RsubBackward1"),
    (lambda x: x * 2, "MulBackward0"),
    (lambda x: x / 2, "DivBackward0"),
    (lambda x: 2 / x, "MulBackward0"),
    (lambda x: -x, "NegBackward0"),
    (lambda x: x**2, "PowBackward0"),
    (lambda x: x**x, "PowBackward1"),
    (lambda x: x.sum(), "SumBackward0"),
    (lambda x: x.sum(0), "SumBackward1"),
    (lambda x: x.mean(), "MeanBackward0"),
    (lambda x: x.mean(0), "MeanBackward1"),
    (lambda x: x.exp(), "ExpBackward0"),
    (lambda x: x.log(), "LogBackward0"),
    (lambda x: x.tanh(), "TanhBackward0"),
    (lambda x: x.sigmoid(), "SigmoidBackward0"),
    (lambda x: x.relu(), "ReluBackward0"),
    (lambda x: x.sqrt(), "SqrtBackward0"),
    (lambda x: x.abs(), "AbsBackward0"),
    (lambda x: x.clone(), "CloneBackward0"),
    (lambda x: x.view(4), "ViewBackward0"),
    (lambda x: x.reshape(4), "ViewBackward0"),
    (lambda x: x.t(), "TBackward0"),
    (lambda x: x.transpose(0, 1), "TransposeBackward0"),
    (lambda x: x.permute(1, 0), "PermuteBackward0"),
    (lambda x: x.expand(3, 2, 2), "ExpandBackward0"),
    (lambda x: x.unsqueeze(0), "UnsqueezeBackward0"),
    (lambda x: x[0], "SelectBackward0"),
    (lambda x: x[0:1], "SliceBackward0"),
    (lambda x: x[torch.tensor([0])], "IndexBackward0"),
    (lambda x: x @ x, "MmBackward0"),
    (lambda x: x.max(), "MaxBackward1"),
    (lambda x: x.max(0)[0], "MaxBackward0"),
    (lambda x: x.double(), "ToCopyBackward0"),
    (lambda x: torch.cat([x, x]), "CatBackward0"),
    (lambda x: torch.stack([x, x]), "StackBackward0"),
    (lambda x: torch.where(x > 0, x, x), "WhereBackward0"),
    (lambda x: torch.maximum(x, x), "MaximumBackward0"),
    (lambda x: x.clamp(0, 1), "ClampBackward1"),
    (lambda x: x.cumsum(0), "CumsumBackward0"),
    (lambda x: x.softmax(0), "SoftmaxBackward0"),
    (lambda x: x.log_softmax(0), "LogSoftmaxBackward0"),
    (lambda x: x.unbind()[0], "UnbindBackward0"),
    (lambda x: x.split(1)[0], "SplitBackward0"),
    (lambda x: x.gather(0, torch.zeros(1, 2, dtype=torch.long)), "GatherBackward0"),
    (lambda x: x.masked_fill(x > 0, 0.0), "MaskedFillBackward0"),
]


@pytest.mark.parametrize(("make", "name"), NODES, ids=[f"{i}-{n}" for i, (_, n) in enumerate(NODES)])
def test_node_name(make, name):
    y = make(torch.ones(2, 2, requires_grad=True))
    assert y.grad_fn.name() == name
    assert type(y.grad_fn).__name__ == name


def test_walk():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = ((x * w) + x).sum()
    assert node_names(y) == ["SumBackward0", "AddBackward0", "MulBackward0", "AccumulateGrad"] + ["AccumulateGrad"]


def test_accumulate_grad_node():
    x = leaf(1.0)
    node, index = (x * 2).grad_fn.next_functions[0]
    assert index == 0
    assert node.name() == "torch::autograd::AccumulateGrad"
    assert type(node).__name__ == "AccumulateGrad"
    assert node.variable is x
    assert node.next_functions == ()
    assert (x * 3).grad_fn.next_functions[0][0] is node


def test_output_numbers():
    a, b, c = torch.ones(3, requires_grad=True).unbind()
    assert a.grad_fn is b.grad_fn is c.grad_fn
    assert (a.output_nr, b.output_nr, c.output_nr) == (0, 1, 2)
    assert (c * 2).grad_fn.next_functions[0] == (c.grad_fn, 2)


def test_node_keeps_metadata():
    node = (leaf(1.0) * 2).grad_fn
    node.metadata["who"] = "me"
    assert node.metadata == {"who": "me"}


def test_grad_fn_is_one_object():
    y = leaf(1.0) * 2
    assert y.grad_fn is y.grad_fn
    assert y.detach().grad_fn is None


# -- parts of the gradient that are absent ------------------------------------


def test_unused_outputs_count_as_zero():
    x = leaf(1.0, 2.0, 3.0)
    a, _, _ = x.unbind()
    a.backward()
    assert x.grad.tolist() == [1.0, 0.0, 0.0]


def test_zero_gradients_still_arrive():
    x = leaf(1.0, 2.0)
    (x * 0).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_only_paths_to_the_inputs_are_walked():
    x, y = leaf(2.0), leaf(3.0)
    calls = []
    a = x * 2
    b = y * 3
    b.register_hook(calls.append)
    torch.autograd.grad(a * b, x)
    assert calls == []


# -- hooks --------------------------------------------------------------------


def test_tensor_hook_sees_and_replaces():
    x = leaf(1.0, 2.0)
    seen = []
    y = x * 2
    handle = y.register_hook(lambda g: (seen.append(g.tolist()), g * 10)[1])
    y.sum().backward()
    assert seen == [[1.0, 1.0]]
    assert x.grad.tolist() == [20.0, 20.0]
    handle.remove()


def test_hook_sees_the_sum():
    x = leaf(2.0)
    seen = []
    x.register_hook(lambda g: seen.append(g.item()))
    (x * x + x * 3).backward()
    assert seen == [7.0]


def test_hooks_run_in_order_and_can_be_removed():
    x = leaf(2.0)
    order = []
    first = x.register_hook(lambda g: order.append(1))
    x.register_hook(lambda g: order.append(2))
    (x * 2).backward()
    first.remove()
    (x * 2).backward()
    assert order == [1, 2, 2]


def test_retain_grad():
    x = leaf(2.0)
    y = x * 3
    y.retain_grad()
    assert y.retains_grad and not x.retains_grad
    (y * y).backward()
    assert y.grad.item() == 12.0 and x.grad.item() == 36.0


def test_retained_grad_is_seen_after_hooks():
    x = leaf(2.0)
    y = x * 3
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    y.backward()
    assert y.grad.item() == 2.0


def test_hook_that_raises():
    x = leaf(2.0)

    def fail(grad):
        raise ZeroDivisionError("in a hook")

    y = x * x
    handle = y.register_hook(fail)
    with pytest.raises(ZeroDivisionError, match="in a hook"):
        y.backward(retain_graph=True)
    assert x.grad is None
    handle.remove()
    y.backward()
    assert x.grad.item() == 4.0


def test_hook_on_a_constant():
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        torch.ones(1).register_hook(lambda g: g)


# -- engine -------------------------------------------------------------------


def test_backward_inside_backward():
    x = leaf(3.0)

    def inner(grad):
        with torch.enable_grad():
            z = leaf(5.0)
            (z * z).backward()
        return grad * z.grad

    y = x * 2
    y.register_hook(inner)
    y.backward()
    assert x.grad.item() == 20.0


def test_order_is_from_last_made_to_first_made():
    x = leaf(1.0)
    order = []
    tensors = []
    for name in "abc":
        t = x * 2
        t.register_hook(lambda g, name=name: order.append(name))
        tensors.append(t)
    sum(tensors).backward()
    assert order == ["c", "b", "a"]


def test_backward_in_many_threads_on_one_leaf():
    x = torch.zeros(100, requires_grad=True)
    graphs = [(x * i).sum() for i in range(20)]
    threads = [threading.Thread(target=g.backward) for g in graphs]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert x.grad.tolist() == [float(sum(range(20)))] * 100


def test_threads_with_graphs_of_their_own():
    results = {}

    def work(i):
        x = torch.full((10,), float(i), requires_grad=True)
        for _ in range(50):
            (x * x).sum().backward()
        results[i] = x.grad[0].item()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == {i: 100.0 * i for i in range(4)}


def test_same_numbers_every_time():
    torch.manual_seed(0)
    x = torch.randn(50, 50, requires_grad=True)
    w = torch.randn(50, 50)
    grads = []
    for _ in range(3):
        (g,) = torch.autograd.grad(((x @ w).tanh() * x).sum(), x)
        grads.append(g)
    assert torch.equal(grads[0], grads[1]) and torch.equal(grads[1], grads[2])


def deep_chain(length):
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(length):
        y = y + 0
    return x, y


def test_deep_chain():
    x, y = deep_chain(200_000)
    y.backward()
    assert x.grad.item() == 1.0


def test_deep_chain_is_freed_without_backward():
    x, y = deep_chain(200_000)
    del y
    assert x.grad is None


@pytest.mark.slow
def test_ten_million_nodes():
    x, y = deep_chain(10_000_000)
    y.backward()
    assert x.grad.item() == 1.0
    del y


def test_wide_graph():
    x = torch.ones(1, dtype=torch.float64, requires_grad=True)
    torch.stack([x * i for i in range(10_000)]).sum().backward()
    assert x.grad.item() == sum(range(10_000))


# -- memory -------------------------------------------------------------------


def test_graph_dies_with_its_tensors():
    x = leaf(2.0)
    y = x * 3
    z = y * y
    middle = weakref.ref(y)
    z.backward()
    del y, z
    gc.collect()
    assert middle() is None


def test_leaf_lives_while_the_graph_does():
    x = leaf(2.0)
    ref = weakref.ref(x)
    y = x * 3
    del x
    assert ref() is not None
    del y
    gc.collect()
    assert ref() is None


def test_loop_of_steps_leaves_nothing_behind():
    def step(w):
        loss = ((w * 2).sin()).sum()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad = None

    w = torch.ones(4, requires_grad=True)
    for _ in range(10):
        step(w)
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(100):
        step(w)
    gc.collect()
    assert len(gc.get_objects()) - before < 20


def test_grad_wants_inputs():
    with pytest.raises(RuntimeError, match="`inputs` argument to `grad\\(\\)` cannot be empty"):
        torch.autograd.grad(torch.ones(3, requires_grad=True).sum(), [])


def test_inputs_that_are_no_tensors():
    x = torch.ones(3, requires_grad=True)
    for call in (lambda: torch.autograd.grad(x.sum(), [3]), lambda: x.sum().backward(inputs=[3])):
        with pytest.raises(RuntimeError, match="all inputs have to be Tensors or GradientEdges, but got int"):
            call()


def test_unused_input_is_named():
    x, y = torch.ones(3, requires_grad=True), torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="The differentiated Tensor at index 1 appears to not have been used in the graph"):
        torch.autograd.grad(x.sum(), (x, y))


def test_integer_gradient_of_a_root():
    x = torch.ones(3, requires_grad=True)
    (x * 2).backward(torch.tensor([1, 2, 3]))
    assert x.grad.dtype == torch.float32
    assert x.grad.tolist() == [2, 4, 6]


def test_batched_gradients_are_checked():
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        torch.autograd.grad(x * x, x, is_grads_batched=True)
    with pytest.raises(RuntimeError, match=r"we interpret the first dimension .* grad_output\[0\] has a shape of torch.Size\(\[4\]\)"):
        torch.autograd.grad(x * x, x, torch.ones(2, 4), is_grads_batched=True)


def test_old_names():
    log = []
    x = torch.ones(3, requires_grad=True)
    engine = torch.autograd.Variable._execution_engine
    x.register_hook(lambda g: engine.queue_callback(lambda: log.append("end")))
    x.sum().backward()
    assert log == ["end"]
    with pytest.raises(RuntimeError, match="Final callbacks can only be installed during backward pass"):
        engine.queue_callback(lambda: None)
    assert isinstance(x, torch.autograd.Variable)
    assert not isinstance(3, torch.autograd.Variable)
    assert torch.autograd.Variable(torch.ones(2), requires_grad=True).requires_grad


def test_old_names_of_tensor():
    x = torch.tensor([2.0], requires_grad=True)
    with pytest.warns(UserWarning, match=r"volatile was removed \(Variable.volatile is always False\)"):
        assert x.volatile is False
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        x.volatile = True
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        del x.volatile
    assert x.requires_grad and not (x.is_ipu or x.is_maia or x.is_mtia or x.is_vulkan or x.is_distributed() or x._is_zerotensor())
    y = torch.tensor([2.0])
    assert (y.__div__(4).item(), y.__rdiv__(4).item(), y.__long__(), y.__nonzero__()) == (0.5, 2.0, 2, True)
    assert y.__idiv__(4) is y and y.item() == 0.5 and y.const_data_ptr() == y.data_ptr()
    for name in ("eig", "lstsq", "solve", "symeig"):
        with pytest.raises(RuntimeError, match="This function was deprecated since version 1.9 and is now removed. Use torch.linalg"):
            getattr(x, name)(x)
    with pytest.raises(RuntimeError, match=r"reinforce\(\) was removed"):
        x.reinforce(1.0)


def test_a_node_of_a_function_by_hand():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad[0] * 2 if isinstance(grad, list) else grad * 2

        @staticmethod
        def jvp(ctx, tangent):
            return tangent * 2

    node = Double.apply(torch.ones(2, requires_grad=True)).grad_fn
    for result in (node.apply(torch.ones(2)), node.apply_boxed([torch.ones(2)]), node.apply_jvp(torch.ones(2))):
        assert result.tolist() == [2.0, 2.0]


# -- arguments of backward and grad -----------------------------------------------


def test_flags_are_numbers():
    x = torch.tensor(2.0, requires_grad=True)
    for bad in ("a", [], 1.5):
        for name in ("retain_graph", "create_graph"):
            with pytest.raises(TypeError):
                (x * x).backward(**{name: bad})
            with pytest.raises(TypeError):
                torch.autograd.grad(x * x, x, **{name: bad})
    with pytest.raises(TypeError):
        torch.autograd.grad(x * x, x, create_graph=None)
    assert torch.autograd.grad(x * x, x, retain_graph=1)[0].item() == 4.0


@pytest.mark.on_cpu("it names the device in what it expects")
def test_gradients_take_the_dtype_of_their_tensor():
    x = torch.ones(2, requires_grad=True)
    for dtype in (torch.float64, torch.float16, torch.int64, torch.bool):
        (grad,) = torch.autograd.grad(x * 2, x, torch.ones(2, dtype=dtype))
        assert grad.dtype is torch.float32 and grad.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="invalid gradient at index 0 - expected device cpu but got meta"):
        torch.autograd.grad(x * 2, x, torch.ones(2, device="meta"))


def test_what_is_no_tensor():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(AssertionError, match=r"Expected output to be a torch\.Tensor"):
        torch.autograd.backward([3])
    with pytest.raises(AssertionError, match=r"Expected output to be a torch\.Tensor"):
        torch.autograd.grad([None], x)
    with pytest.raises(TypeError, match="gradients can be either Tensors or None, but got float"):
        (x * 2).backward([1.0, 2.0])
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        x.sum().backward(inputs=3)
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"):
        x.sum().backward(inputs=[torch.ones(2)])
    with pytest.raises(RuntimeError, match="One of the differentiated Tensors does not require grad"):
        torch.autograd.grad(x.sum(), torch.ones(2))


def test_batched_gradients_of_wrong_shape():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(ValueError, match=r"same size in the mapped dimension, got sizes \[3, 4\]"):
        torch.autograd.grad((x * x, x * 2), x, (torch.ones(3, 2), torch.ones(4, 2)), is_grads_batched=True)
    for grad in (None, torch.ones(())):
        with pytest.raises(ValueError, match="Got in_dim=0 for some input, but that input is a Tensor of dimensionality 0"):
            torch.autograd.grad(x.sum(), x, grad, is_grads_batched=True)


def test_variable():
    variable = torch.autograd.Variable
    assert variable is torch.autograd.variable.Variable and isinstance(torch.ones(1), variable)
    assert variable().shape == (0,)
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got list"):
        variable([1.0])
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype can require gradients"):
        variable(torch.ones(1, dtype=torch.int64), requires_grad=True)


def test_the_raw_call_checks_its_arguments():
    y = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(TypeError, match="expects tuples or lists, got int"):
        torch._C._run_backward(3, 3, 0, 0, None, 0, 1)
    with pytest.raises(TypeError, match="expects tuples or lists, got int"):
        torch._C._run_backward((y,), (torch.ones(2),), 0, 0, 3, 0, 1)
    with pytest.raises(TypeError, match="gradients can be either Tensors or None, but got int"):
        torch._C._run_backward((y,), (3,), 0, 0, None, 0, 1)
    with pytest.raises(RuntimeError, match="got 1 tensors and 0 gradients"):
        torch._C._run_backward((y,), (), 0, 0, None, 0, 1)
    with pytest.raises(RuntimeError, match="one version for each tensor"):
        torch._C._unsafe_set_version_counter((y,), ())


# -- the dtype of .grad --------------------------------------------------------------


def test_grad_dtype():
    x = torch.ones(2, requires_grad=True)
    assert x.grad_dtype is torch.float32
    x.grad_dtype = torch.float64
    seen = []
    x.register_hook(lambda g: seen.append(g.dtype))
    for _ in range(2):
        (x * 2).sum().backward()
    assert x.grad.dtype is torch.float64 and x.grad.tolist() == [4.0, 4.0] and set(seen) == {torch.float64}
    assert torch.autograd.grad((x * 2).sum(), x)[0].dtype is torch.float64
    with pytest.raises(RuntimeError, match="Cannot set grad_dtype to 'Float' because there is already a gradient with dtype 'float64'"):
        x.grad_dtype = torch.float32
    with pytest.raises(RuntimeError, match="attempting to assign a gradient with dtype 'float' to a tensor with grad_dtype 'Double'"):
        x.grad = torch.ones(2)


def test_any_grad_dtype():
    x = torch.ones(2, requires_grad=True)
    x.grad_dtype = None
    assert x.grad_dtype is None
    x.grad = torch.ones(2, dtype=torch.float64)
    (x * 2).sum().backward()
    assert x.grad.dtype is torch.float64 and x.grad.tolist() == [3.0, 3.0]


def test_grad_dtype_is_for_leaves():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="grad_dtype can only be accessed on leaf tensors"):
        (x * 2).grad_dtype
    with pytest.raises(RuntimeError, match="grad_dtype can only be set on leaf tensors"):
        (x * 2).grad_dtype = torch.float64
    for bad, words in ((3, "must be a torch.dtype or None, but got int"), (torch.int64, "must be a floating point dtype")):
        with pytest.raises(RuntimeError, match=words):
            x.grad_dtype = bad


@pytest.mark.on_cpu("it names the device in what it expects")
def test_assigning_grad_on_another_device():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="attempting to assign a gradient with device type 'meta' to a tensor with device type 'cpu'"):
        x.grad = torch.ones(2, device="meta")


class Upcast(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad.double()


@pytest.mark.told("custom_function_wrong_gradient", why="a gradient of another dtype")
def test_a_leaf_of_any_grad_dtype_takes_gradients_as_they_come():
    x = torch.ones(2, requires_grad=True)
    out = Upcast.apply(x)
    x.grad_dtype = None  # what counts is what it says when the gradient arrives
    seen = []
    x.register_hook(lambda g: seen.append(g.dtype))
    out.sum().backward()
    assert x.grad.dtype is torch.float64 and seen == [torch.float64]
    assert torch.autograd.grad(Upcast.apply(x).sum(), x)[0].dtype is torch.float64
    assert torch.autograd.grad((x * torch.ones(2, dtype=torch.float64)).sum(), x)[0].dtype is torch.float64
    assert torch.autograd.grad((x * torch.ones(2, dtype=torch.complex64)).sum().real, x)[0].dtype is torch.float32
    assert torch.autograd.grad(Upcast.apply(x.view(2)).sum(), x)[0].dtype is torch.float32  # the view is no leaf
    out = Upcast.apply(x)
    x.grad, x.grad_dtype = None, torch.float16
    assert torch.autograd.grad(out.sum(), x)[0].dtype is torch.float16


@pytest.mark.parametrize("call", [lambda edge, x, g: torch.autograd.grad(edge, x, g), lambda edge, x, g: torch.autograd.backward(edge, g)])
def test_a_gradient_for_an_edge_is_complex_where_its_output_is(call):
    edge_of = torch.autograd.graph.get_gradient_edge
    x, z = torch.ones(2, requires_grad=True), torch.ones(2, dtype=torch.complex64, requires_grad=True)
    for leaf, grad in ((x, torch.tensor(1 + 2j)), (z, torch.tensor(1.0))):
        with pytest.raises(RuntimeError, match="For complex Tensors, both grad_output and output are required to have the same dtype"):
            call(edge_of(leaf.sin().sum()), leaf, grad)
    call(edge_of(x.sin().sum()), x, torch.tensor(1.0, dtype=torch.float64))


# -- gradients that become .grad ----------------------------------------------


@pytest.mark.on_cpu("it counts the memory of the CPU")
def test_the_gradient_of_a_weight_is_not_copied():
    """It is the transpose of a product, a view of memory that nobody else has."""
    layer = torch.nn.Linear(256, 128, bias=False)
    loss = layer(torch.randn(2, 256)).sum()
    before = torch.memory_allocated()
    torch.reset_peak_memory_stats()
    loss.backward()
    size = layer.weight.nbytes
    assert size <= torch.max_memory_allocated() - before < 1.5 * size
    grad = layer.weight.grad
    assert grad._base is None and grad.is_contiguous() and grad._version == 0


@pytest.mark.parametrize("holder", ["view", "base", "alias"])
def test_a_gradient_that_somebody_holds_is_copied(holder):
    held = []

    class Transposed(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.t()

        @staticmethod
        def backward(ctx, grad):
            whole = grad * 2
            view = whole.t()
            held.append({"view": view, "base": whole, "alias": whole.detach()}[holder])
            return view

    x = torch.ones(2, 3, requires_grad=True)
    Transposed.apply(x).sum().backward()
    kept = held[0].clone()
    with torch.no_grad():
        x.grad.add_(5)
    assert torch.equal(held[0], kept) and x.grad.tolist() == [[7.0] * 3] * 2


def test_hooks_after_a_view_became_the_gradient():
    layer, seen = torch.nn.Linear(3, 2, bias=False), []
    layer.weight.register_hook(lambda grad: seen.append(grad.sum().item()))
    layer.weight.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.sum().item()))
    node = torch.autograd.graph.get_gradient_edge(layer.weight).node
    node.register_hook(lambda into, out: seen.append([g.sum().item() for g in out]))
    layer(torch.ones(4, 3)).sum().backward()
    assert seen == [24.0, 24.0, [24.0]] or seen == [24.0, [24.0], 24.0]
    layer(torch.ones(4, 3)).sum().backward()
    assert layer.weight.grad.sum().item() == 48.0
