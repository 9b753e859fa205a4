"""autograd.Function: what forward and backward see, what they may return, and what happens to it."""

import gc
import traceback
import weakref

import pytest

import retrograd as torch
from retrograd.autograd import Function
from retrograd.autograd.function import FunctionCtx, once_differentiable
from retrograd.testing import assert_close

OURS = torch.__name__ == "retrograd"


# Backwards give whatever shows what is asked.
pytestmark = pytest.mark.told("custom_function_wrong_gradient", why="gradients that are easy to tell apart")


def leaf(*values):
    return torch.tensor(values if len(values) > 1 else values[0], requires_grad=True)


def function(forward, backward=None, setup_context=None):
    """A Function called F from plain functions."""
    members = {"forward": staticmethod(forward)}
    if backward:
        members["backward"] = staticmethod(backward)
    if setup_context:
        members["setup_context"] = staticmethod(setup_context)
    return type("F", (Function,), members)


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2


class Scale(Function):
    """With arguments that are no tensors."""

    @staticmethod
    def forward(ctx, x, factor, label=None):
        ctx.factor = factor
        ctx.label = label
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, None, None


# -- one node per call --------------------------------------------------------


def test_first_and_second_derivative():
    x = leaf(2.0)
    (g,) = torch.autograd.grad(Cube.apply(x), x, create_graph=True)
    (h,) = torch.autograd.grad(g, x, create_graph=True)
    (k,) = torch.autograd.grad(h, x)
    assert (g.item(), h.item(), k.item()) == (12.0, 12.0, 6.0)


def test_the_node_is_the_context_and_has_the_name_of_the_class():
    seen = []
    y = function(lambda ctx, x: seen.append(ctx) or x * 2, lambda ctx, g: seen.append(ctx) or g * 2).apply(leaf(1.0))
    y.backward()
    assert seen[0] is seen[1] is y.grad_fn
    assert y.grad_fn.name() == type(y.grad_fn).__name__ == "FBackward"
    assert isinstance(y.grad_fn, FunctionCtx) and isinstance(y.grad_fn, torch.autograd.graph.Node)
    assert type("Derived", (Cube,), {}).apply(leaf(1.0)).grad_fn.name() == "DerivedBackward"


def test_edges_are_those_of_the_tensors():
    f = function(lambda ctx, x, y, z, s: x * 1, lambda ctx, g: (g, None, None, None))
    edges = f.apply(leaf(1.0), torch.ones(1), leaf(2.0) * 2, "s").grad_fn.next_functions
    assert [e[0] and e[0].name() for e in edges] == ["torch::autograd::AccumulateGrad", None, "MulBackward0"]


def test_no_node_without_gradient():
    assert Cube.apply(torch.tensor(2.0)).grad_fn is None
    with torch.no_grad():
        assert Cube.apply(leaf(2.0)).grad_fn is None
    assert not function(lambda ctx, s: torch.ones(2), lambda ctx, g: None).apply("s").requires_grad
    assert not function(lambda ctx, many: many[0] * 2, lambda ctx, g: None).apply([leaf(1.0)]).requires_grad  # lists are not looked into


def test_arguments_that_are_no_tensors():
    x = leaf(2.0)
    y = Scale.apply(x, 3.0, "three")
    y.backward()
    assert x.grad.item() == 3.0 and y.grad_fn.label == "three"


def test_keyword_arguments():
    x = leaf(2.0)
    y = Scale.apply(x, factor=3.0, label="three")
    y.backward()
    assert x.grad.item() == 3.0 and y.grad_fn.label == "three"
    with pytest.raises(TypeError):
        Scale.apply(x, factor=3.0, nonsense=1)


def test_attributes_of_the_context():
    y = function(lambda ctx, x: setattr(ctx, "note", [1, 2]) or x * 2, lambda ctx, g: g * len(ctx.note)).apply(leaf(1.0))
    assert y.grad_fn.note == [1, 2] and not hasattr(y.grad_fn, "other")


# -- modes and flags ----------------------------------------------------------


def test_forward_does_not_record_and_backward_does_when_asked_to():
    seen = []
    f = function(
        lambda ctx, x: seen.append((torch.is_grad_enabled(), x.requires_grad, (x * 2).requires_grad)) or x * 1,
        lambda ctx, g: seen.append(torch.is_grad_enabled()) or g,
    )
    x = leaf(1.0)
    f.apply(x).backward()
    torch.autograd.grad(f.apply(x), x, create_graph=True)
    assert seen == [(False, True, False), False, (False, True, False), True]


def test_needs_input_grad():
    seen = []
    f = function(
        lambda ctx, x, y, s: seen.append(ctx.needs_input_grad) or x * 1, lambda ctx, g: seen.append(ctx.needs_input_grad) or (g, None, None)
    )
    f.apply(leaf(1.0), torch.ones(1), "s").backward()
    assert seen == [(True, False, False)] * 2


def test_missing_gradients_are_zeros_or_none():
    seen = []

    def backward(ctx, g, h):
        seen.append((g.item(), None if h is None else h.tolist()))
        return g

    for materialize in (True, False):
        f = function(lambda ctx, x, m=materialize: ctx.set_materialize_grads(m) or (x * 2, torch.stack([x, x])), backward)
        f.apply(leaf(3.0))[0].backward()
    assert seen == [(1.0, [0.0, 0.0]), (1.0, None)]


def test_gradients_of_outputs_that_are_no_tensors_are_none():
    seen = []
    f = function(lambda ctx, x: (x * 2, None, "s", x * 3), lambda ctx, *g: seen.append(g) or g[0])
    f.apply(leaf(1.0))[0].backward()
    ((first, *rest),) = seen
    assert first.item() == 1.0 and rest[:2] == [None, None] and rest[2].item() == 0.0


# -- saving -------------------------------------------------------------------


def test_saved_inputs_come_back_as_they_are():
    seen = []
    x = leaf(1.0)
    f = function(lambda ctx, x: ctx.save_for_backward(x, None) or x * 1, lambda ctx, g: seen.append(ctx.saved_tensors) or g)
    y = f.apply(x)
    y.backward()
    ((first, second),) = seen
    assert first is x and second is None


def test_saved_outputs_come_back_with_their_history():
    seen = []

    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        seen.append(y.grad_fn is ctx)
        return g * y

    x = leaf(0.5)
    f = function(forward, backward)
    (g,) = torch.autograd.grad(f.apply(x), x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    assert all(seen) and h.item() == g.item()
    ref = weakref.ref(f.apply(x))
    assert ref() is None  # node and output do not hold each other


def test_saved_intermediates_have_no_history():
    seen = []

    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y * 2

    function(forward, lambda ctx, g: seen.append(ctx.saved_tensors[0].requires_grad) or g).apply(leaf(1.0)).backward()
    assert seen == [False]


def test_only_the_last_save_counts():
    seen = []
    f = function(
        lambda ctx, x: ctx.save_for_backward(x) or ctx.save_for_backward(x, x) or x * 1,
        lambda ctx, g: seen.append(len(ctx.saved_tensors)) or g,
    )
    f.apply(leaf(1.0)).backward()
    assert seen == [2]


def test_only_tensors_are_saved():
    with pytest.raises(TypeError, match="save_for_backward can only save variables, but argument 0 is of type int"):
        function(lambda ctx, x: ctx.save_for_backward(3) or x * 1, lambda ctx, g: g).apply(leaf(1.0))


def test_a_saved_tensor_that_was_written_is_refused():
    x = leaf(1.0)
    y = x * 1
    z = Cube.apply(y)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_saved_tensors_are_freed_by_backward():
    x = leaf(2.0)
    y = Cube.apply(x)
    assert y.grad_fn.saved_tensors[0] is x
    y.backward()
    for again in (y.backward, lambda: y.grad_fn.saved_tensors):
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
            again()


def test_what_saves_nothing_can_be_run_again():
    x = leaf(2.0)
    y = Scale.apply(x, 3.0)
    y.backward()
    y.backward()
    assert x.grad.item() == 6.0


def test_save_for_forward_takes_tensors():
    function(lambda ctx, x: ctx.save_for_forward(x) or x * 1, lambda ctx, g: g).apply(leaf(1.0))
    with pytest.raises(AssertionError, match="save_for_forward expects all arguments to be tensors"):
        function(lambda ctx, x: ctx.save_for_forward(3) or x * 1, lambda ctx, g: g).apply(leaf(1.0))


# -- setup_context ------------------------------------------------------------


class Product(Function):
    @staticmethod
    def forward(x, y, scale=1.0):
        return x * y * scale

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y, ctx.scale = inputs
        ctx.save_for_backward(x, y)
        ctx.output = weakref.ref(output)

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return grad * y * ctx.scale, grad * x * ctx.scale, None


def test_setup_context():
    x, y = leaf(2.0), leaf(3.0)
    z = Product.apply(x, y, 10.0)
    assert z.grad_fn.output() is z
    z.backward()
    assert (x.grad.item(), y.grad.item()) == (30.0, 20.0)


def test_setup_context_with_keywords_and_defaults():
    x, y = leaf(2.0), leaf(3.0)
    Product.apply(x, y=y, scale=10.0).backward()
    assert (x.grad.item(), y.grad.item()) == (30.0, 20.0)
    assert Product.apply(x, y).grad_fn.scale == 1.0


def test_setup_context_sees_inputs_and_output():
    seen = []

    def setup(ctx, inputs, output):
        seen.append((inputs, output.item(), torch.is_grad_enabled()))
        ctx.save_for_backward(output)

    x = leaf(0.0)
    function(lambda x: x.exp(), lambda ctx, g: g * ctx.saved_tensors[0], setup).apply(x).backward()
    ((inputs, output, recording),) = seen
    assert inputs[0] is x and output == 1.0 and not recording and x.grad.item() == 1.0


# -- what forward may return --------------------------------------------------


def test_results_of_all_kinds():
    def apply(result):
        return function(lambda ctx, x: result(x), lambda ctx, *g: g[0]).apply(leaf(1.0))

    assert apply(lambda x: None) is None
    assert apply(lambda x: 3) == 3
    assert apply(lambda x: ()) == ()
    assert isinstance(apply(lambda x: (x * 2,)), tuple)
    tensor, none, text, number = apply(lambda x: (x * 2, None, "s", 3))
    assert tensor.requires_grad and (none, text, number) == (None, "s", 3)
    a, b = apply(lambda x: [x * 2, x * 3])  # a list is passed on as it is
    assert not a.requires_grad and not b.requires_grad
    y, index = apply(lambda x: (x * 2, torch.tensor([1])))
    assert y.requires_grad and not index.requires_grad


def test_several_outputs():
    x = leaf(2.0)
    a, b = function(lambda ctx, x: (x * 2, x * 3), lambda ctx, g, h: g * 2 + h * 3).apply(x)
    assert (a.output_nr, b.output_nr) == (0, 1) and a.grad_fn is b.grad_fn
    (a * 10 + b).backward()
    assert x.grad.item() == 23.0


@pytest.mark.parametrize("inner", [False, True])
def test_returning_an_input(inner):
    x = leaf(1.0)
    y = x * 2 if inner else x
    z = function(lambda ctx, a: a, lambda ctx, g: g * 3).apply(y)
    assert z is not y and z.grad_fn.name() == "FBackward" and z._is_view()
    z.backward()
    assert x.grad.item() == (6.0 if inner else 3.0)
    with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
        function(lambda ctx, a: a, lambda ctx, g: g).apply(x * 2).mul_(2)


def test_returning_an_input_without_gradient():
    x = torch.tensor(1.0)
    y = function(lambda ctx, a: a, lambda ctx, g: g).apply(x)
    assert y is not x and not y.requires_grad and y._is_view() and y._base is x


def test_view_of_an_input_after_the_input_changed():
    y = leaf(1.0, 2.0) * 2
    v = function(lambda ctx, a: a[0], lambda ctx, g: torch.stack([g * 3, g * 0])).apply(y)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="its base or another view of its base has been modified inplace. This view was created inside"):
        v.backward()


def test_view_of_an_input_under_no_grad():
    y = leaf(1.0, 2.0) * 2
    with torch.no_grad():
        v = function(lambda ctx, a: a[0], lambda ctx, g: g).apply(y)
    with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
        v.mul_(2)


def test_one_view_beside_a_number_is_no_multiple_view():
    v, _ = function(lambda ctx, a: (a[0], 3), lambda ctx, g, _: g).apply(leaf(1.0, 2.0) * 2)
    with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
        v.mul_(2)


def test_returning_a_view_of_an_input():
    x = leaf(1.0, 2.0)
    y = x * 2
    f = function(lambda ctx, a: a[0], lambda ctx, g: torch.stack([g * 3, g * 0]))
    v = f.apply(y)
    assert v._is_view() and v._base is y and v.grad_fn.name() == "FBackward"
    v.backward(retain_graph=True)
    assert x.grad.tolist() == [6.0, 0.0]
    with pytest.raises(
        RuntimeError, match="Output 0 of F is a view and is being modified inplace. This view was created inside a custom Function"
    ):
        f.apply(y).mul_(2)


def test_returning_several_views():
    y = leaf(1.0, 2.0) * 2
    a, _ = function(lambda ctx, a: (a[0], a[1]), lambda ctx, g, h: torch.stack([g, h])).apply(y)
    with pytest.raises(RuntimeError, match="This view is the output of a function that returns multiple views"):
        a.mul_(2)


# -- in place and non-differentiable ------------------------------------------


def double_in_place(ctx, x):
    x.mul_(2)
    ctx.mark_dirty(x)
    return x


Double = function(double_in_place, lambda ctx, g: g * 2)


def test_mark_dirty():
    x = leaf(3.0)
    y = x * 1
    z = Double.apply(y)
    assert z is y and y.grad_fn.name() == "FBackward" and y.item() == 6.0
    z.backward()
    assert x.grad.item() == 2.0


def test_mark_dirty_is_seen_by_who_saved_it():
    x = leaf(3.0)
    y = x * 1
    z = y * y
    Double.apply(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_mark_dirty_of_a_view():
    x = leaf(3.0, 4.0)
    y = x * 1
    v = y[0]
    z = Double.apply(v)
    assert z is v and y.grad_fn.name() == "torch::autograd::CopySlices" and y.tolist() == [6.0, 4.0]
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 1.0]


def test_mark_dirty_of_a_view_is_in_the_history_of_the_view():
    x = leaf(3.0, 4.0)
    v = (x * 1)[:1]
    Double.apply(v).sum().backward()
    assert x.grad.tolist() == [2.0, 0.0]


def test_mark_dirty_of_one_of_many_views():
    with pytest.raises(RuntimeError, match="Output 1 of Unbind is a view and is being modified inplace"):
        Double.apply((leaf(3.0, 4.0) * 1).unbind()[1])


def test_mark_dirty_under_no_grad():
    x = leaf(3.0) * 1
    with torch.no_grad():
        y = Double.apply(x)
    assert y is not x and not y.requires_grad and x.item() == y.item() == 6.0 and x._version == 2


def test_mark_dirty_counts_a_refused_write():
    x = leaf(3.0)
    with pytest.raises(RuntimeError, match="a leaf Variable"):
        Double.apply(x)
    assert x._version == 2


def test_mark_dirty_of_no_input():
    def forward(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    with pytest.warns(UserWarning, match=r"ctx.mark_dirty\(\) received a tensor that was not an input"):
        function(forward, lambda ctx, g: g * 2).apply(leaf(3.0))


@pytest.mark.on_cpu("a backward makes its tensors on the CPU under a default device, as in PyTorch")
def test_gradient_of_integers_is_converted():
    x = leaf(3.0)
    function(lambda ctx, a: a * 2, lambda ctx, g: torch.tensor(2)).apply(x).backward()
    assert x.grad.item() == 2.0 and x.grad.dtype == x.dtype


def test_mark_dirty_errors():
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used in an in-place operation"):
        Double.apply(leaf(3.0))
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place operation"):
        Double.apply(leaf(3.0, 4.0)[0])
    with pytest.raises(RuntimeError, match="Some elements marked as dirty during the forward method were not returned as output"):
        function(lambda ctx, a: ctx.mark_dirty(a) or a * 1, lambda ctx, g: g).apply(leaf(3.0) * 1)
    with pytest.raises(RuntimeError, match="your Function cannot return more than one Tensor"):
        function(lambda ctx, a: (double_in_place(ctx, a), a * 3), lambda ctx, g, h: g).apply((leaf(3.0, 4.0) * 1)[0])
    with pytest.raises(RuntimeError, match="mark_dirty can only accept variables"):
        function(lambda ctx, a: ctx.mark_dirty(3) or a * 1, lambda ctx, g: g).apply(leaf(3.0))


def test_mark_non_differentiable():
    def forward(ctx, x):
        y, mask = x * 2, x * 3
        ctx.mark_non_differentiable(mask)
        return y, mask

    seen = []
    x = leaf(3.0)
    y, mask = function(forward, lambda ctx, g, h: seen.append(h.item()) or g * 2).apply(x)
    assert y.requires_grad and not mask.requires_grad and mask.grad_fn is None
    y.backward()
    assert seen == [0.0] and x.grad.item() == 2.0


@pytest.mark.skipif(not OURS, reason="PyTorch returns another tensor and leaves this one with the history from before the write")
def test_non_differentiable_and_dirty():
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        ctx.mark_non_differentiable(x)
        return x

    y = leaf(3.0) * 1
    z = function(forward, lambda ctx, g: g).apply(y)
    assert z is y and not z.requires_grad


# -- what backward may return -------------------------------------------------


def backward_returning(result, x=None, forward=lambda ctx, x: x * 2):
    x = leaf(1.0, 2.0) if x is None else x
    function(forward, lambda ctx, g: result(g)).apply(x).sum().backward()
    return x.grad


def test_trailing_none_is_forgiven():
    assert backward_returning(lambda g: (g * 2, None, None)).tolist() == [2.0, 2.0]


def test_gradients_are_brought_to_dtype_and_shape():
    assert backward_returning(lambda g: g.double()).dtype == torch.float32
    assert backward_returning(lambda g: g, forward=lambda ctx, x: x.expand(3, 2)).tolist() == [3.0, 3.0]


def test_no_gradient():
    assert backward_returning(lambda g: None) is None


def test_gradients_nobody_wants_are_dropped():
    x, y = leaf(1.0), torch.tensor(2.0)
    function(lambda ctx, x, y: x * y, lambda ctx, g: (g, g)).apply(x, y).backward()
    assert x.grad.item() == 1.0 and y.grad is None


def test_wrong_gradients_are_explained():
    with pytest.raises(RuntimeError, match=r"function FBackward returned an incorrect number of gradients \(expected 1, got 2\)"):
        backward_returning(lambda g: (g, g))
    with pytest.raises(RuntimeError, match=r"function FBackward returned an incorrect number of gradients \(expected 2, got 1\)"):
        function(lambda ctx, x, y: x * y, lambda ctx, g: g).apply(leaf(1.0), leaf(2.0)).backward()
    with pytest.raises(
        RuntimeError,
        match=r"Function FBackward returned an invalid gradient at index 0 - got \[3\] but expected shape compatible with \[2\]",
    ):
        backward_returning(lambda g: torch.ones(3))
    with pytest.raises(RuntimeError, match=r"expected Variable or None \(got int\)"):
        backward_returning(lambda g: 3)
    with pytest.raises(
        RuntimeError, match="returned a gradient different than None at position 2, but the corresponding forward input was not a Variable"
    ):
        function(lambda ctx, x, n: x * n, lambda ctx, g: (g, g)).apply(leaf(1.0), 3).backward()


@pytest.mark.skipif(not OURS, reason="PyTorch does not say where")
def test_errors_say_where_the_function_was_called():
    with pytest.raises(RuntimeError, match=f"in backward of FBackward, made at {__file__}:"):
        backward_returning(lambda g: 3)


# -- exceptions ---------------------------------------------------------------


def test_exceptions_come_through_with_their_traceback():
    def broken_forward(ctx, x):
        raise KeyError("forward")

    def broken_backward(ctx, g):
        raise KeyError("backward")

    with pytest.raises(KeyError, match="forward"):
        function(broken_forward).apply(leaf(1.0))
    x = leaf(1.0)
    y = function(lambda ctx, x: x * 1, broken_backward).apply(x)
    with pytest.raises(KeyError, match="backward") as info:
        y.backward()
    assert traceback.extract_tb(info.value.__traceback__)[-1].name == "broken_backward"
    (x * 2).backward()
    assert x.grad.item() == 2.0


def test_missing_methods():
    with pytest.raises(NotImplementedError, match="You must implement the forward function for custom autograd.Function"):
        type("Empty", (Function,), {}).apply(leaf(1.0))
    with pytest.raises(NotImplementedError, match="You must implement either the backward or vjp method"):
        function(lambda ctx, x: x * 2).apply(leaf(1.0)).backward()
    with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
        Function.jvp(None)
    with pytest.raises(NotImplementedError, match="To use autograd.Function with vmap"):
        Function.vmap(None, None)


def test_vjp_is_another_name_for_backward():
    x = leaf(1.0)
    type("F", (Function,), {"forward": staticmethod(lambda ctx, x: x * 2), "vjp": staticmethod(lambda ctx, g: g * 2)}).apply(x).backward()
    assert x.grad.item() == 2.0
    both = {
        "forward": staticmethod(lambda ctx, x: x * 2),
        "backward": staticmethod(lambda ctx, g: g),
        "vjp": staticmethod(lambda ctx, g: g),
    }
    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        type("F", (Function,), both).apply(x).backward()


def test_functions_are_not_called_on_instances():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        instance = Cube()
    with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward method is deprecated"):
        instance(leaf(1.0))


# -- once_differentiable ------------------------------------------------------


class CubeOnce(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        assert not torch.is_grad_enabled()
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2


def test_once_differentiable():
    x = leaf(2.0)
    CubeOnce.apply(x).backward()
    assert x.grad.item() == 12.0
    (g,) = torch.autograd.grad(CubeOnce.apply(x), x, create_graph=True)
    assert not g.requires_grad
    v = leaf(1.0)
    (g,) = torch.autograd.grad(CubeOnce.apply(x), x, v, create_graph=True)
    with pytest.raises(RuntimeError, match="trying to differentiate twice a function that was marked with @once_differentiable"):
        g.backward()


# -- composition --------------------------------------------------------------


def test_functions_in_functions():
    def forward(ctx, x):
        with torch.enable_grad():
            inner = x.detach().requires_grad_()
            ctx.inner, ctx.out = inner, Cube.apply(inner)
        return ctx.out.detach()

    def backward(ctx, grad):
        (g,) = torch.autograd.grad(ctx.out, ctx.inner, grad)
        return g

    x = leaf(2.0)
    function(forward, backward).apply(x).backward()
    assert x.grad.item() == 12.0


def test_under_grad_with_several_inputs():
    x, y = leaf(2.0), leaf(3.0)
    z = Product.apply(x, y)
    (gy,) = torch.autograd.grad(z, y, retain_graph=True)
    gx, gy2 = torch.autograd.grad(z, [x, y])
    assert (gx.item(), gy.item(), gy2.item()) == (3.0, 2.0, 2.0)


def test_gradcheck_of_functions():
    x = (torch.rand(3, dtype=torch.float64) + 0.5).requires_grad_()
    assert torch.autograd.gradcheck(Cube.apply, (x,))
    assert torch.autograd.gradgradcheck(Cube.apply, (x,))
    y = (torch.rand(3, dtype=torch.float64) + 0.5).requires_grad_()
    assert torch.autograd.gradgradcheck(Product.apply, (x, y, 2.0))


def test_undefined_gradients_reach_backward():
    seen = []
    outer = function(lambda ctx, x: x * 1, lambda ctx, g: None)
    inner = function(lambda ctx, x: x * 1, lambda ctx, g: seen.append(g.item()) or g)
    x = leaf(1.0)
    outer.apply(inner.apply(x)).backward()
    assert seen == [0.0] and x.grad.item() == 0.0


# -- memory -------------------------------------------------------------------


def collected(make):
    ref = weakref.ref(make())
    gc.collect()
    return ref() is None


def test_cycles_through_the_context_are_collected():
    def keep_output(ctx, x):
        ctx.out = x * 2
        return ctx.out

    def keep_input(ctx, x):
        ctx.x = x
        return x * 2

    def keep_closure(ctx, x):
        out = x * 2
        ctx.later = lambda: (ctx, out)
        return out

    for forward in (keep_output, keep_input, keep_closure):
        assert collected(lambda f=forward: function(f, lambda ctx, g: g).apply(leaf(1.0)))


@pytest.mark.skipif(not OURS, reason="PyTorch leaks this cycle")
def test_a_gradient_with_history_on_its_own_leaf_is_collected():
    def make():
        x = leaf(2.0)
        (g,) = torch.autograd.grad(Cube.apply(x), x, create_graph=True)
        x.grad = g
        return x

    assert collected(make)


@pytest.mark.skipif(not OURS, reason="counts our objects")
def test_many_calls_leave_nothing_behind():
    from retrograd import _C

    def step():
        x = torch.ones(3, requires_grad=True)
        y = Double.apply(Cube.apply(x) * 1)
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        g.sum().backward()
        Product.apply(x, y.detach())

    step()
    gc.collect()
    before = _C._live_objects()
    for _ in range(300):
        step()
    gc.collect()
    after = _C._live_objects()
    assert all(b - a <= 2 for a, b in zip(before, after, strict=True)), (before, after)


def test_classes_made_in_a_loop_work():
    x = leaf(2.0)
    for n in range(3):
        function(lambda ctx, x, n=n: x * n, lambda ctx, g, n=n: g * n).apply(x).backward()
    assert_close(x.grad, torch.tensor(3.0))


# -- what a ctx shows, and when ------------------------------------------------


def test_saved_tensors_in_every_phase():
    seen = {}

    def forward(ctx, x):
        ctx.save_for_backward(x)
        seen["forward"] = ctx.saved_tensors
        return x * 2

    def backward(ctx, g):
        seen["backward"] = ctx.saved_tensors
        return g * 2

    x = leaf(1.0)
    y = function(forward, backward).apply(x)
    assert seen["forward"] == () and y.grad_fn.saved_tensors[0] is x
    y.backward(retain_graph=True)
    assert seen["backward"][0] is x and y.grad_fn.saved_tensors[0] is x
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.grad_fn.saved_tensors


def test_without_gradients_nothing_is_kept():
    seen = []
    f = function(lambda ctx, x: seen.append(ctx) or ctx.save_for_backward(x) or x * 2)
    f.apply(torch.ones(2))
    assert seen[0].saved_tensors == () and seen[0].next_functions == () and seen[0].to_save is None


def test_save_for_forward_lasts_as_long_as_apply():
    seen = []

    class F(Function):
        @staticmethod
        def forward(ctx, x):
            seen.append(ctx.saved_for_forward)
            ctx.save_for_forward(x, None)
            seen.append(ctx.saved_for_forward)
            return x * 2

    y = F.apply(leaf(1.0))
    assert seen[0] is None and len(seen[1]) == 2 and y.grad_fn.saved_for_forward is None
    with pytest.raises(AssertionError, match="save_for_forward expects all arguments to be tensors"):
        y.grad_fn.save_for_forward(3)


def test_saved_variables_is_deprecated():
    x = leaf(2.0)
    node = Cube.apply(x).grad_fn
    with pytest.warns(DeprecationWarning, match="'saved_variables' is deprecated; use 'saved_tensors'"):
        assert node.saved_variables[0] is x
    with pytest.warns(FutureWarning, match="`mark_shared_storage` is deprecated"):
        node.mark_shared_storage((x, x))


def test_repr_and_words_of_a_context():
    node = Cube.apply(leaf(2.0)).grad_fn
    assert repr(node).startswith("<torch.autograd.function.CubeBackward object at 0x")
    with pytest.raises(AttributeError, match="^'CubeBackward' object has no attribute 'missing'"):
        node.missing
    with pytest.raises(AttributeError, match="^'CubeBackward' object has no attribute 'missing'"):
        del node.missing
    node.note = 1
    assert node.__dict__ == {"note": 1}
    with pytest.raises(AttributeError, match="^'MulBackward0' object has no attribute 'missing'"):
        (leaf(1.0) * 2).grad_fn.missing


@pytest.mark.on_cpu("it names the device in what it expects")
def test_input_metadata():
    f = function(lambda ctx, x: (x * 2, x.double().view(-1, 1), 5), lambda ctx, *g: g[0])
    first, second, none = f.apply(leaf(1.0, 2.0))[0].grad_fn._input_metadata
    assert none is None and tuple(first.shape) == (2,) and first.dtype is torch.float32 and str(first.device) == "cpu"
    assert tuple(second.shape) == (2, 1) and second.dtype is torch.float64 and not second.is_nested_tensor
    (about,) = torch.autograd.graph.get_gradient_edge(leaf(1.0, 2.0)).node._input_metadata
    assert tuple(about.shape) == (2,)
    assert not hasattr((leaf(1.0) * 2).grad_fn, "_input_metadata")  # what ops made is not remembered


def test_a_context_by_hand():
    ctx = FunctionCtx()
    x = leaf(2.0)
    Cube.forward(ctx, x)
    ctx.mark_dirty(x)
    ctx.mark_non_differentiable(x)
    ctx.save_for_forward(x)
    ctx.set_materialize_grads(False)
    assert ctx.to_save[0] is x and ctx.dirty_tensors[0] is x and ctx.non_differentiable[0] is x and ctx.saved_for_forward[0] is x
    assert ctx.materialize_grads is False and isinstance(ctx, FunctionCtx) and issubclass(Function, FunctionCtx)
    assert not isinstance(Cube.apply(x).grad_fn, Cube) and not isinstance(3, FunctionCtx)


def test_the_type_of_the_nodes_of_a_class():
    node = Cube.apply(leaf(2.0)).grad_fn
    assert Cube._backward_cls is type(node) and node.requires_grad
    assert node.apply(torch.tensor(1.0)).item() == 12.0
    with pytest.raises(TypeError, match="'CubeBackward' object is not callable"):
        node(torch.tensor(1.0))


def test_maybe_clear_saved_tensors():
    def backward(ctx, g):
        ctx.maybe_clear_saved_tensors()
        try:
            seen.append(len(ctx.saved_tensors))
        except RuntimeError:
            seen.append("freed")
        return g

    seen = []
    y = function(lambda ctx, x: ctx.save_for_backward(x) or x * 2, backward).apply(leaf(1.0))
    y.grad_fn.maybe_clear_saved_tensors()  # outside of backward it does nothing
    y.backward(retain_graph=True)
    y.backward()
    assert seen == [1, "freed"]


@pytest.mark.parametrize("value", [1, 0, None, "x"])
def test_set_materialize_grads_takes_bools(value):
    with pytest.raises(TypeError, match="set_materialize_grads received an invalid combination of arguments"):
        function(lambda ctx, x: ctx.set_materialize_grads(value)).apply(leaf(1.0))
    with pytest.raises(TypeError):
        function(lambda ctx, x: setattr(ctx, "materialize_grads", value)).apply(leaf(1.0))


@pytest.mark.parametrize("method", ["mark_dirty", "mark_non_differentiable"])
def test_marks_are_for_tensors(method):
    words = {"mark_dirty": "can only accept variables, but argument 0", "mark_non_differentiable": "only accepts variable arguments"}
    with pytest.raises(RuntimeError, match=f"{method} {words[method]}.* is of type int"):
        function(lambda ctx, x: getattr(ctx, method)(3)).apply(leaf(1.0))


@pytest.mark.on_cpu("it names the device in what it expects")
def test_gradient_on_another_device():
    f = function(lambda ctx, x: x * 2, lambda ctx, g: torch.ones(2, device="meta"))
    with pytest.raises(RuntimeError, match="FBackward returned an invalid gradient at index 0 - expected device cpu but got meta"):
        f.apply(leaf(1.0, 2.0)).sum().backward()


def test_a_graph_that_forward_made_ends_with_it():
    inner = torch.ones(2, requires_grad=True)
    f = function(lambda ctx, x: inner, lambda ctx, g: g)
    y = f.apply(torch.ones(2))
    assert not y.requires_grad and inner.requires_grad  # what forward returned is left alone


def test_once_differentiable_says_so_only_when_asked_twice():
    backward = once_differentiable(lambda ctx, g: (g * 2, None))
    f = function(lambda ctx, x, y: x * y, backward)
    x, y, v = leaf(2.0), leaf(3.0), leaf(1.0)
    gx, gy = torch.autograd.grad(f.apply(x, y), (x, y), v, create_graph=True, allow_unused=True)
    assert gx.item() == 2.0 and gy is None and gx.grad_fn.name() == "torch::autograd::Error"
    with pytest.raises(RuntimeError, match="trying to differentiate twice a function that was marked with @once_differentiable"):
        gx.backward()


def test_a_saved_tensor_may_lose_its_history():
    """First derivatives do not look at it; second ones would be wrong."""
    x = leaf(2.0)
    y = x * 1
    z = Cube.apply(y)
    y.detach_()
    z.backward(retain_graph=True)
    assert x.grad.item() == 12.0
    with pytest.raises(RuntimeError, match="detached in-place"):
        torch.autograd.grad(z, x, create_graph=True)


# -- what jvp may return -------------------------------------------------------


def tangents_of(jvp, forward=lambda ctx, x: x * 2):
    f = type("F", (Function,), {"forward": staticmethod(forward), "jvp": staticmethod(jvp)})
    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        out = f.apply(forward_ad.make_dual(torch.ones(2, 1), torch.ones(2, 1)))
        return [forward_ad.unpack_dual(o).tangent for o in (out if isinstance(out, tuple) else (out,))]


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (lambda t: None, "jvp returned None at position 0, but the corresponding forward output is a differentiable Tensor"),
        (lambda t: (t, t), r"invalid number of forward gradients \(expected 1 but got 2\)"),
        (lambda t: (), r"invalid number of forward gradients \(expected 1 but got 0\)"),
        (lambda t: 3.0, r"expected Variable or None \(got float\) for grad output 0"),
        (lambda t: [t], r"expected Variable or None \(got list\) for grad output 0"),
        (lambda t: t[0], r"forward gradient that has a different size .* is of size \[2, 1\], .* of size \[1\]"),
        (lambda t: t.long(), "jvp returned a gradient of dtype int64"),
    ],
)
def test_jvp_that_is_refused(result, words):
    with pytest.raises(RuntimeError, match=words):
        tangents_of(lambda ctx, t: result(t))


def test_jvp_of_outputs_that_have_no_derivative():
    def forward(ctx, x):
        y = x * 2
        ctx.mark_non_differentiable(y)
        return y, x.long(), x * 3

    assert tangents_of(lambda ctx, t: (None, None, t), forward)[:2] == [None, None]
    with pytest.raises(RuntimeError, match="jvp returned a gradient at position 1, but the corresponding forward output is not"):
        tangents_of(lambda ctx, t: (None, t, t), forward)


def test_jvp_of_a_view_is_a_view_of_the_tangent():
    view = lambda ctx, x: x.view(-1)
    assert tangents_of(lambda ctx, t: t.view(-1), view)[0].shape == (2,)
    with pytest.raises(RuntimeError, match="is returning a view .* but the jvp is not returning a view"):
        tangents_of(lambda ctx, t: torch.ones(2), view)
    with pytest.raises(RuntimeError, match="the jvp is not returning a view of the given grad input"):
        tangents_of(lambda ctx, t: t.clone().view(-1), view)
    with pytest.raises(RuntimeError, match="is returning a view .* but the jvp is not returning a view"):
        tangents_of(lambda ctx, t: t, lambda ctx, x: x)
    assert tangents_of(lambda ctx, t: t.view_as(t), lambda ctx, x: x)[0].shape == (2, 1)


def test_jvp_sees_what_was_saved_for_it():
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    seen = []
    tangents_of(lambda ctx, t: seen.append(ctx.saved_tensors) or t, forward)
    assert seen == [()]


# -- tensors that forward wrote to ---------------------------------------------------


def test_views_of_a_dirty_input_have_seen_the_write():
    def forward(ctx, x, y):
        part = x[:1]
        x.mul_(2)
        ctx.mark_dirty(x)
        return part, x

    x = torch.ones(2)
    part, same = function(forward, lambda ctx, a, b: (None, a.sum() + b.sum())).apply(x, leaf(1.0))
    assert same is x and part.grad_fn.name() == "FBackward" and part.item() == 2.0


def test_dirty_and_non_differentiable():
    def forward(ctx, x):
        ctx.mark_dirty(x.mul_(2))
        ctx.mark_non_differentiable(x)
        return x

    f = function(forward, lambda ctx, g: g)
    base = leaf(1.0, 2.0) * 1
    for tensor, same in ((leaf(1.0, 2.0), False), (base[:1], False), (leaf(1.0, 2.0) * 1, True)):
        result = f.apply(tensor)
        assert not result.requires_grad and (result is tensor) is same and result.tolist() == tensor.tolist()


# -- gradients in a list -------------------------------------------------------


class Boxed(Function):
    boxed_grads_call = True
    seen: list = []

    @staticmethod
    def forward(ctx, x, materialize=True):
        ctx.set_materialize_grads(materialize)
        return x * 2, 5, x * 3

    @staticmethod
    def backward(ctx, grads):
        assert type(grads) is list
        Boxed.seen.append([g if g is None else g.tolist() for g in grads])
        first, last = grads[0], grads[2]
        return (0 if first is None else first * 2) + (0 if last is None else last * 3), None


def test_gradients_in_a_list():
    x = leaf(1.0, 1.0)
    a, _, b = Boxed.apply(x)
    (a + b).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]
    Boxed.seen.clear()
    Boxed.apply(x)[0].sum().backward()
    Boxed.apply(x, False)[2].sum().backward()
    assert Boxed.seen == [[[1.0, 1.0], None, [0.0, 0.0]], [None, None, [1.0, 1.0]]]
    node = Boxed.apply(x)[0].grad_fn
    assert node.apply(torch.ones(2), None, torch.ones(2))[0].tolist() == [5.0, 5.0]


def test_a_list_of_gradients_is_all_that_holds_them():
    class Drop(Function):
        boxed_grads_call = True
        alive = None

        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grads):
            weak = weakref.ref(grads[0])
            result = grads[0] * 2
            grads.clear()
            Drop.alive = weak() is not None
            return result

    x = leaf(1.0, 1.0)
    y = Drop.apply(x)
    (y * 1.0).sum().backward()
    assert Drop.alive is False
    y = Drop.apply(x)
    seen = []
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs[0].tolist(), outputs[0].tolist())))
    (y * 1.0).sum().backward()
    assert seen == [([2.0, 2.0], [1.0, 1.0])] and x.grad.tolist() == [4.0, 4.0]


def test_gradients_in_a_list_with_vjp_transforms_and_once_differentiable():
    class Square(Function):
        boxed_grads_call = True
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0])

        @staticmethod
        def vjp(ctx, grads):
            (x,) = ctx.saved_tensors
            return grads.pop() * 2 * x

    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert_close(torch.func.grad(lambda x: Square.apply(x).sum())(x), 2 * x)
    assert_close(torch.func.vmap(torch.func.grad(lambda x: Square.apply(x).sum()))(x), 2 * x)
    assert_close(torch.func.grad(lambda x: torch.func.vmap(Square.apply)(x).sum())(x), 2 * x)

    class Once(Function):
        boxed_grads_call = True

        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @once_differentiable
        def backward(ctx, grads):
            return grads[0] * 2

    x = leaf(1.0, 2.0)
    factor = leaf(1.0)
    (g,) = torch.autograd.grad((Once.apply(x) * factor).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="trying to differentiate twice a function that was marked with @once_differentiable"):
        g.sum().backward()


@pytest.mark.parametrize("name", ["boxed_grads_call", "clear_saved_tensors_on_access"])
def test_flags_of_a_class_are_bools(name):
    F = function(lambda ctx, x: x * 2, lambda ctx, g: (ctx.saved_tensors, g)[1])
    setattr(F, name, 1)
    with pytest.raises(RuntimeError, match=f"{name} must be a bool, got int"):
        F.apply(leaf(1.0)).backward()


# -- saved tensors that are handed over ----------------------------------------


class Handing(Function):
    clear_saved_tensors_on_access = True
    held: list = []

    @staticmethod
    def forward(ctx, x, reads=1):
        ctx.reads = reads
        y = x * 2
        ctx.save_for_backward(x, None, y)
        return y

    @staticmethod
    def backward(ctx, grad):
        x, nothing, y = ctx.saved_tensors
        assert nothing is None and y.grad_fn is ctx
        refs = [weakref.ref(x), weakref.ref(y)]
        del x, y
        Handing.held.append([r() is not None for r in refs])
        for _ in range(ctx.reads - 1):
            ctx.saved_tensors
        return grad * 2, None


def test_saved_tensors_are_handed_over():
    Handing.held.clear()
    Handing.apply(leaf(1.0, 1.0).clone()).sum().backward()
    assert Handing.held == [[False, False]]
    once = "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set"
    with pytest.raises(RuntimeError, match=once):
        Handing.apply(leaf(1.0, 1.0), 2).sum().backward()
    y = Handing.apply(leaf(1.0, 1.0))
    y.sum().backward(retain_graph=True)
    with pytest.raises(RuntimeError, match=once):
        y.sum().backward()
    y = Handing.apply(leaf(1.0, 1.0))
    assert len(y.grad_fn.saved_tensors) == 3 and y.grad_fn._raw_saved_tensors == ()
    with pytest.raises(RuntimeError, match=once):
        y.grad_fn.saved_tensors


def test_packed_tensors_are_handed_over():
    kept = []

    class Token:
        def __init__(self, t):
            self.tensor = t
            kept.append(weakref.ref(self))

    with torch.autograd.graph.saved_tensors_hooks(Token, lambda token: token.tensor):
        y = Handing.apply(leaf(1.0, 1.0).clone())
    y.grad_fn.saved_tensors
    assert [r() is not None for r in kept] == [False, False]


# -- views that are nothing but views ------------------------------------------


class Head(Function):
    calls = 0

    @staticmethod
    def forward(ctx, x):
        ctx._is_pure_view = True
        return x[:2]

    @staticmethod
    def backward(ctx, grad):
        Head.calls += 1
        return torch.cat([grad, grad.new_zeros(1)])


def test_a_pure_view_may_be_written():
    x = leaf(1.0, 1.0, 1.0)
    y = x.clone()
    v = Head.apply(y)
    assert v._base is y and type(v.grad_fn).__name__ == "HeadBackward"
    v.mul_(3)
    assert (type(v.grad_fn).__name__, type(y.grad_fn).__name__) == ("AsStridedBackward0", "CopySlices")
    Head.calls = 0
    assert torch.autograd.grad(y.sum() + v.sum(), x)[0].tolist() == [6.0, 6.0, 1.0] and Head.calls == 0
    y = x.clone()
    v = Head.apply(y)
    y.mul_(2)
    assert torch.autograd.grad(v.sum(), x)[0].tolist() == [2.0, 2.0, 0.0]
    y = x.clone()
    v = Head.apply(y)
    v.view(2, 1).mul_(3)
    assert torch.autograd.grad(y.sum() + v.sum(), x)[0].tolist() == [6.0, 6.0, 1.0]
    assert torch.autograd.grad(Head.apply(x).sum(), x)[0].tolist() == [1.0, 1.0, 0.0] and Head.calls == 1
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place operation"):
        Head.apply(x).mul_(2)
    with torch.no_grad():
        v = Head.apply(x.clone())
    assert v.mul_(x[:2]).requires_grad


def test_a_pure_view_has_one_input_and_one_output():
    def pure(forward):
        def flagged(ctx, *args):
            ctx._is_pure_view = True
            return forward(*args)

        return function(flagged, lambda ctx, *grads: (grads[0], None))

    x = leaf(1.0, 1.0)
    refusal = "Pure view custom Function can only have one input Tensor and one output Tensor"
    for forward, args in ((lambda a, b: a[:1], (x, x)), (lambda a: (a[:1], a[1:]), (x,)), (lambda a: (a[:1], 3), (x,))):
        with pytest.raises(RuntimeError, match=refusal):
            pure(forward).apply(*args)
        with pytest.raises(RuntimeError, match=refusal):
            pure(forward).apply(*(a.detach() for a in args))
    y = x.clone()
    pure(lambda a, n: a).apply(y, 3).mul_(3)
    assert torch.autograd.grad(y.sum(), x)[0].tolist() == [3.0, 3.0]
    with pytest.raises(TypeError, match=r"got \(int\), but expected \(bool value\)"):
        function(lambda ctx, x: setattr(ctx, "_is_pure_view", 1)).apply(x)


# -- what holds what -----------------------------------------------------------


@pytest.mark.parametrize("view", [False, True])
def test_a_saved_input_that_was_written_closes_no_cycle(view):
    class Dirty(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            assert x.grad_fn is ctx
            return grad * 2 * x

    def make():
        x = leaf(1.0, 2.0, 3.0, 4.0)
        y = x.clone()
        z = y[1:3] if view else y
        Dirty.apply(z)
        return x, y, weakref.ref(z)

    gc.disable()
    try:
        assert make()[2]() is None or not view
        x, y, _ = make()
        (g,) = torch.autograd.grad((y**2).sum(), x, create_graph=True)
        assert g.tolist() == ([2.0, 64.0, 144.0, 8.0] if view else [16.0, 64.0, 144.0, 256.0])
        (gg,) = torch.autograd.grad(g.sum(), x)
        assert gg.tolist() == ([2.0, 256.0, 576.0, 2.0] if view else [64.0, 256.0, 576.0, 1024.0])
        dead = weakref.ref(y)
        del x, y, g, gg
        assert dead() is None
    finally:
        gc.enable()


def test_an_apply_that_fails_leaves_nothing_behind():
    outputs = []

    def forward(ctx, x):
        y = x * 2
        outputs.append(weakref.ref(y))
        ctx.save_for_backward(y)
        return y

    def refuse(t):
        raise ValueError("no room")

    gc.disable()
    try:
        with torch.autograd.graph.saved_tensors_hooks(refuse, lambda t: t), pytest.raises(ValueError, match="no room"):
            function(forward, lambda ctx, g: g).apply(leaf(1.0))
        assert outputs[0]() is None
    finally:
        gc.enable()


# -- marks and keywords --------------------------------------------------------


def test_a_dirty_view_that_is_no_input():
    outside = torch.ones(2).view(2)

    def forward(ctx, x, make):
        out = make(x)
        ctx.mark_dirty(out)
        return out

    F = function(forward, lambda ctx, g: (g, None))
    for make in (lambda x: x.exp().view(-1), lambda x: outside, lambda x: x.view(2)):
        with pytest.raises(RuntimeError, match=r"ctx.mark_dirty\(\) received a tensor that was not an input"):
            F.apply(leaf(1.0, 2.0).clone(), make)
    with pytest.warns(UserWarning, match=r"ctx.mark_dirty\(\) received a tensor that was not an input"):
        F.apply(leaf(1.0, 2.0), torch.exp)


def test_one_tensor_marked_twice():
    def forward(ctx, x, y):
        x.mul_(2)
        ctx.mark_dirty(x, y)
        return x, x.sum()

    x = torch.ones(2)
    assert function(forward).apply(x, x)[0] is x
    with pytest.raises(RuntimeError, match="Some elements marked as dirty during the forward method were not returned as output"):
        function(forward).apply(x, torch.ones(2))


def test_wrong_keyword_arguments():
    x = leaf(1.0)
    F = function(lambda ctx, x, y, z=3: x + y, lambda ctx, a, b: (a, b))
    for args, keywords, words in (
        ((x,), {"bad": x}, r"forward\(\) got an unexpected keyword argument 'bad'"),
        ((x, x), {"y": x}, r"forward\(\) got multiple values for argument 'y'"),
        ((x,), {"ctx": x}, r"forward\(\) got an unexpected keyword argument 'ctx'"),
        ((x,), {"z": x}, r"forward\(\) missing required argument: 'y' \(position 1\)"),
        ((), {"x": x}, "missing 1 required positional argument: 'y'"),
    ):
        with pytest.raises(TypeError, match=words):
            F.apply(*args, **keywords)


def test_keyword_arguments_fill_their_places_only():
    seen = []

    def forward(ctx, x, y=2, z=3, *, w=4):
        seen.append(ctx.needs_input_grad)
        return x * y * z * w

    F = function(forward, lambda ctx, g: (g * 2 * 3 * 4, None))
    x = leaf(1.0)
    F.apply(x, y=2).backward()
    assert x.grad.item() == 24.0 and seen == [(True, False)]
    assert F.apply(x, z=5).item() == 40.0 and seen[1] == (True, False, False)
    with pytest.raises(TypeError, match=r"forward\(\) got an unexpected keyword argument 'w': it is keyword-only there"):
        F.apply(x, w=1)
