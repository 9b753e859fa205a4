"""checkpoint: the same gradients with less memory, and an explanation where the second run goes astray."""

import contextlib
import gc
import warnings
import weakref

import pytest

import retrograd as torch
from retrograd.autograd import Function
from retrograd.testing import assert_close
from retrograd.utils.checkpoint import (
    CheckpointError,
    GraphExecGroup,
    checkpoint,
    checkpoint_sequential,
    detach_variable,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)

OURS = torch.__name__ == "retrograd"
both_kinds = pytest.mark.parametrize("use_reentrant", [False, True])


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


def wave(x):
    return (x.sin() * x.exp()).cos()


def gradient_of(f, *inputs):
    inputs = [i.detach().requires_grad_() for i in inputs]
    f(*inputs).sum().backward()
    return [i.grad for i in inputs]


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2


def runs(function):
    """The function, and a list that grows by one with each call of it."""
    calls = []

    def counted(*args, **kwargs):
        calls.append(len(calls))
        return function(*args, **kwargs)

    return counted, calls


# -- the same gradients -------------------------------------------------------


@both_kinds
def test_gradients_are_those_without_checkpoint(use_reentrant):
    x, w = torch.rand(3), torch.rand(3)
    f = lambda x, w: wave(x * w) + w
    assert_close(gradient_of(lambda x, w: checkpoint(f, x, w, use_reentrant=use_reentrant), x, w), gradient_of(f, x, w))


@pytest.mark.told("checkpoint_side_effects", why="it notes each run")
@both_kinds
def test_the_function_runs_once_forward_and_once_backward(use_reentrant):
    f, calls = runs(wave)
    y = checkpoint(f, leaf(1.0, 2.0), use_reentrant=use_reentrant)
    assert len(calls) == 1
    y.sum().backward()
    assert len(calls) == 2


def test_results_and_arguments_of_all_kinds():
    x = leaf(1.0, 2.0)
    f = lambda x, n, pair, *, scale, none=None: (x.sin() * n * scale + pair[0], n, None, "text")
    y, n, none, text = checkpoint(f, x, 2, (torch.ones(2), 5), scale=torch.tensor(3.0), use_reentrant=False)
    assert (n, none, text) == (2, None, "text")
    y.sum().backward()
    assert_close(x.grad, 6 * x.detach().cos())


def test_keyword_tensors_get_gradients():
    x, scale = leaf(1.0, 2.0), leaf(3.0, 4.0)
    checkpoint(lambda x, *, scale: (x * scale).exp(), x, scale=scale, use_reentrant=False).sum().backward()
    assert_close(scale.grad, x.detach() * (x * scale).detach().exp())


def test_tensors_the_function_reaches_by_itself():
    w = leaf(0.5, 0.25)
    checkpoint(lambda x: (x * w).exp(), torch.ones(2), use_reentrant=False).sum().backward()
    assert_close(w.grad, w.detach().exp())


def test_no_input_needs_a_gradient():
    assert not checkpoint(lambda x: x * 2, torch.ones(2), use_reentrant=False).requires_grad
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True. Gradients will be None"):
        assert not checkpoint(lambda x: x * 2, torch.ones(2), use_reentrant=True).requires_grad


def test_without_grad_mode_it_is_a_call():
    f, calls = runs(wave)
    with torch.no_grad():
        y = checkpoint(f, leaf(1.0), use_reentrant=False)
    assert not y.requires_grad and len(calls) == 1


def test_with_autograd_grad():
    x = leaf(1.0, 2.0)
    (g,) = torch.autograd.grad(checkpoint(wave, x, use_reentrant=False).sum(), x)
    assert_close(g, gradient_of(wave, x)[0])
    with pytest.raises(RuntimeError, match="When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad()"):
        torch.autograd.grad(checkpoint(wave, x, use_reentrant=True).sum(), x)
    with pytest.raises(RuntimeError, match=r"incompatible with .grad\(\) and with backward\(inputs"):
        checkpoint(wave, x, use_reentrant=True).sum().backward(inputs=[x])


def test_second_derivative():
    x = leaf(0.5, 0.7)

    def second(f):
        (g,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
        return torch.autograd.grad(g.sum(), x)[0]

    assert_close(second(lambda x: checkpoint(wave, x, use_reentrant=False)), second(wave))


def test_gradgradcheck():
    x = (torch.rand(3, dtype=torch.float64) + 0.5).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: checkpoint(wave, x, use_reentrant=False), (x,))
    assert torch.autograd.gradgradcheck(lambda x: checkpoint(wave, x, use_reentrant=False), (x,))


def test_custom_functions():
    x = torch.tensor([1.0, 2.0])
    f = lambda x: Cube.apply(x.sin()).exp()
    assert_close(gradient_of(lambda x: checkpoint(f, x, use_reentrant=False), x), gradient_of(f, x))


def test_hooks_run_once():
    seen = []

    def f(x):
        y = x.sin()
        if y.requires_grad:
            y.register_hook(lambda g: seen.append(g.tolist()) or g * 2)
        return y.exp()

    x = leaf(0.0)
    checkpoint(f, x, use_reentrant=False).sum().backward()
    assert seen == [[1.0]] and x.grad.item() == 2.0


def test_backward_twice():
    x = leaf(1.0, 2.0)
    y = checkpoint(wave, x, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert_close(x.grad, 2 * gradient_of(wave, x)[0])
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


@pytest.mark.told("checkpoint_side_effects", why="it notes each run")
def test_two_outputs_one_by_one():
    f, calls = runs(lambda x: (x.sin().exp(), x.cos().exp()))
    x = leaf(1.0, 2.0)
    a, b = checkpoint(f, x, use_reentrant=False)
    a.sum().backward(retain_graph=True)
    b.sum().backward()
    assert len(calls) == 3
    x.grad = None
    a, b = checkpoint(f, x, use_reentrant=False)
    with GraphExecGroup():
        a.sum().backward(retain_graph=True)
        b.sum().backward()
    assert len(calls) == 5
    assert_close(x.grad, gradient_of(lambda x: x.sin().exp() + x.cos().exp(), x)[0])


def test_saved_tensors_can_be_looked_at():
    x = leaf(1.0, 2.0)
    y = checkpoint(lambda x: x.exp(), x, use_reentrant=False)
    for _ in range(2):
        assert_close(y.grad_fn._saved_result.detach(), x.detach().exp())


def test_views_and_writes_in_place_inside():
    def f(x):
        y = x * 2
        y[0] = y[1] * 3
        y.mul_(2)
        return y.t().exp() if y.dim() == 2 else y.exp()

    x = torch.tensor([0.1, 0.2, 0.3])
    assert_close(gradient_of(lambda x: checkpoint(f, x, use_reentrant=False), x), gradient_of(f, x))


# -- early stop ---------------------------------------------------------------


@pytest.mark.told("checkpoint_side_effects", why="it notes each run")
@pytest.mark.parametrize(("early", "expected"), [(True, "sexyse"), (False, "sexysexy")])
def test_early_stop(early, expected):
    steps = []

    def f(x):
        for name, op in (("s", torch.sin), ("e", torch.exp), ("x", lambda t: t + 1), ("y", lambda t: t + 2)):
            steps.append(name)
            x = op(x)
        return x

    checkpoint(f, leaf(1.0), use_reentrant=False, early_stop=early).sum().backward()
    assert "".join(steps) == expected
    steps.clear()
    with set_checkpoint_early_stop(early):
        y = checkpoint(f, leaf(1.0), use_reentrant=False, early_stop=not early)
    y.sum().backward()
    assert "".join(steps) == expected


@pytest.mark.told("checkpoint_side_effects", why="the block counts its runs")
def test_early_stop_leaves_by_the_front_door():
    left = []

    def f(x):
        try:
            return x.sin().exp() + 1
        finally:
            left.append(True)

    checkpoint(f, leaf(1.0), use_reentrant=False).sum().backward()
    assert left == [True, True]


# -- nesting ------------------------------------------------------------------


def nested(depth, x, use_reentrant=False):
    if depth == 0:
        return wave(x)
    return checkpoint(lambda x: wave(nested(depth - 1, x.sin(), use_reentrant)), x, use_reentrant=use_reentrant)


def plain(depth, x):
    return wave(x) if depth == 0 else wave(plain(depth - 1, x.sin()))


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_nested(depth):
    x = torch.tensor([0.3, 0.6])
    assert_close(gradient_of(lambda x: nested(depth, x), x), gradient_of(lambda x: plain(depth, x), x))


def test_nested_reentrant():
    x = torch.tensor([0.3, 0.6])
    assert_close(gradient_of(lambda x: nested(2, x, True), x), gradient_of(lambda x: plain(2, x), x))


def test_reentrant_inside_and_outside():
    x = torch.tensor([0.3, 0.6])
    for outer, inner in ((True, False), (False, True)):
        f = lambda x, inner=inner: wave(checkpoint(wave, x.sin(), use_reentrant=inner))
        assert_close(
            gradient_of(lambda x, f=f, outer=outer: checkpoint(f, x, use_reentrant=outer), x), gradient_of(lambda x: wave(wave(x.sin())), x)
        )


def test_nested_second_derivative():
    x = leaf(0.3, 0.6)

    def second(f):
        (g,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
        return torch.autograd.grad(g.sum(), x)[0]

    assert_close(second(lambda x: nested(2, x)), second(lambda x: plain(2, x)))


def test_a_chain_of_checkpoints():
    x = torch.rand(4)

    def f(x, wrap):
        for _ in range(6):
            x = wrap(x) * 0.5
        return x

    assert_close(gradient_of(lambda x: f(x, lambda t: checkpoint(wave, t, use_reentrant=False)), x), gradient_of(lambda x: f(x, wave), x))


# -- random numbers -----------------------------------------------------------


@pytest.mark.told("checkpoint_side_effects", why="it notes each run")
@both_kinds
def test_random_numbers_are_the_same_in_both_runs(use_reentrant):
    seen = []

    def f(x):
        r = torch.rand(3)
        seen.append(r)
        return (x * r).exp()

    def run(**options):
        seen.clear()
        y = checkpoint(f, leaf(1.0, 2.0, 3.0), use_reentrant=use_reentrant, **options)
        before = torch.get_rng_state()
        y.sum().backward()
        return torch.equal(*seen), torch.equal(before, torch.get_rng_state())

    assert run() == (True, True)
    assert run(preserve_rng_state=False) == (False, False)


# -- contexts -----------------------------------------------------------------


def test_context_fn():
    seen = []

    @contextlib.contextmanager
    def around(name):
        seen.append(f"enter {name}")
        try:
            yield
        finally:
            seen.append(f"leave {name}")

    y = checkpoint(wave, leaf(1.0), use_reentrant=False, context_fn=lambda: (around("forward"), around("recompute")))
    assert seen == ["enter forward", "leave forward"]
    y.sum().backward()
    assert seen[2:] == ["enter recompute", "leave recompute"]


# -- arguments ----------------------------------------------------------------


def test_use_reentrant_should_be_said():
    with pytest.warns(UserWarning, match="the use_reentrant parameter should be passed explicitly"):
        y = checkpoint(wave, leaf(1.0))
    assert y.grad_fn.name() == "CheckpointFunctionBackward"


def test_what_the_reentrant_kind_does_not_take():
    with pytest.raises(ValueError, match="Unexpected keyword arguments: k"):
        checkpoint(lambda x, k: x, leaf(1.0), k=3, use_reentrant=True)
    with pytest.raises(ValueError, match="Passing `context_fn` or `debug` is only supported when use_reentrant=False"):
        checkpoint(wave, leaf(1.0), use_reentrant=True, debug=True)
    with pytest.raises(ValueError, match="determinism_check should be one of"):
        checkpoint(wave, leaf(1.0), use_reentrant=False, determinism_check="some").sum().backward()
    with pytest.raises(RuntimeError, match="Only tuple of tensors is supported"):
        detach_variable([leaf(1.0)])


def test_the_reentrant_kind_with_results_of_all_kinds():
    x = leaf(1.0, 2.0)
    y, n, none = checkpoint(lambda x, n: (x.sin(), n, None), x, 3, use_reentrant=True)
    assert (n, none) == (3, None)
    y.sum().backward()
    assert_close(x.grad, x.detach().cos())


@both_kinds
def test_checkpoint_sequential(use_reentrant):
    steps = [torch.sin, torch.exp, torch.cos, torch.tanh, wave]
    x = torch.tensor([0.3, 0.6])

    def f(x):
        for step in steps:
            x = step(x)
        return x

    for segments in (1, 2, 3, 5):
        got = gradient_of(lambda x, n=segments: checkpoint_sequential(steps, n, x, use_reentrant=use_reentrant), x)
        assert_close(got, gradient_of(f, x))
    with pytest.raises(ValueError):
        checkpoint_sequential(steps, 9, x, use_reentrant=use_reentrant)
    with pytest.raises(ValueError, match="Unexpected keyword arguments"):
        checkpoint_sequential(steps, 2, x, use_reentrant=use_reentrant, nonsense=1)


def test_exceptions_of_the_second_run_come_through():
    def f(x):
        if len(calls) > 1:
            raise KeyError("second run")
        return wave(x)

    f, calls = runs(f)
    y = checkpoint(f, leaf(1.0), use_reentrant=False)
    with pytest.raises(KeyError, match="second run"):
        y.sum().backward()


# -- a second run that differs ------------------------------------------------


def differing(first, second):
    """A function that does one thing the first time and another the second."""

    def f(x):
        return first(x) if len(calls) == 1 else second(x)

    f, calls = runs(f)
    return f


def run_backward(f, **options):
    x = leaf(1.0, 2.0)
    checkpoint(f, x, use_reentrant=False, **options).sum().backward()
    return x.grad


def test_other_shapes():
    f = differing(lambda x: x.sin().exp(), lambda x: torch.cat([x, x]).sin().exp())
    with pytest.raises(
        CheckpointError, match="Recomputed values for the following tensors have different metadata than during the forward pass"
    ):
        run_backward(f)


def test_fewer_ops():
    f = differing(lambda x: x.sin().exp(), lambda x: x.sin())
    with pytest.raises(
        CheckpointError, match="A different number of tensors was saved during the original forward and recomputation"
    ) as info:
        run_backward(f)
    if OURS:
        assert "The first op that is missing: Exp at " in str(info.value)


def test_more_ops():
    f = differing(lambda x: x.sin().exp(), lambda x: x.sin().exp().tanh())
    with pytest.raises(CheckpointError, match="trying to save more tensors during recomputation") as info:
        run_backward(f, early_stop=False)
    if OURS:
        assert "The first op that is new in the recomputation: Tanh at " in str(info.value)


@pytest.mark.skipif(not OURS, reason="PyTorch computes a wrong gradient")
def test_other_ops_of_the_same_shape():
    f = differing(lambda x: x.sin().exp(), lambda x: x.sin().cos().exp())
    with pytest.raises(CheckpointError, match="The first op that diverged, at saved tensor 1") as info:
        run_backward(f)
    text = str(info.value)
    assert f"forward:       Exp at {__file__}" in text and f"recomputation: Cos at {__file__}" in text


def test_another_op_of_another_shape():
    f = differing(lambda x: x.sin().exp(), lambda x: x.sin() * torch.ones(2, 2))
    with pytest.raises(CheckpointError, match="Recomputed values for the following tensors have different metadata"):
        run_backward(f)
    f = differing(lambda x: x.sin().exp(), lambda x: x.sin() * torch.ones(2, 2))
    with pytest.raises(CheckpointError, match="because you passed `debug=True`"):
        run_backward(f, debug=True)
    if OURS:
        f = differing(lambda x: x.sin().exp(), lambda x: x.sin())
        with pytest.raises(CheckpointError, match="because you passed `debug=True`"):
            run_backward(f, debug=True)


def slope(x):
    return torch.autograd.grad((x.sin() ** 2).sum(), x, create_graph=True)[0]


def slope_through_a_checkpoint(x):
    y = checkpoint(lambda x: x.sin() ** 2, x, use_reentrant=False)
    return torch.autograd.grad((y * x).sum(), x, create_graph=True)[0]


@pytest.mark.parametrize("debug", [False, True] if OURS else [False])
@pytest.mark.parametrize("early_stop", [True, False])
@pytest.mark.parametrize("f", [slope, slope_through_a_checkpoint])
def test_a_function_that_differentiates(f, early_stop, debug):
    x, y = leaf(0.5, 0.7), leaf(0.5, 0.7)
    checkpoint(f, x, use_reentrant=False, early_stop=early_stop, debug=debug).exp().sum().backward()
    f(y).exp().sum().backward()
    assert_close(x.grad, y.grad)


@pytest.mark.told("checkpoint_side_effects", why="the block counts its runs")
def test_more_ops_in_a_function_that_differentiates():
    calls = []

    def at_last_another(x):
        calls.append(x)
        return slope(x) if len(calls) < 3 else slope(x).exp()

    x = leaf(1.0, 2.0)
    y = checkpoint(at_last_another, x, use_reentrant=False, early_stop=False)
    with pytest.raises(CheckpointError, match="trying to save more tensors during recomputation"):
        y.sum().backward()
    assert len(calls) == 3


@pytest.mark.parametrize("debug", [False, True] if OURS else [False])
def test_a_forward_context_that_swallows_exceptions(debug):
    def broken(x):
        raise ValueError("boom")

    def contexts():
        return contextlib.suppress(ValueError), contextlib.nullcontext()

    with pytest.raises(RuntimeError, match="context_fn suppressed an exception"):
        checkpoint(broken, leaf(1.0), use_reentrant=False, context_fn=contexts, debug=debug)


def test_tensors_without_gradient_come_back_as_themselves():
    table, found = torch.ones(2), []
    table.tag = "lookup"

    class Lookup(Function):
        @staticmethod
        def forward(ctx, x, table):
            ctx.save_for_backward(table, x)
            return x * table

        @staticmethod
        def backward(ctx, grad):
            found.append(ctx.saved_tensors)
            return grad, None

    x = leaf(1.0, 2.0)
    checkpoint(Lookup.apply, x, table, use_reentrant=False).sum().backward()
    checkpoint(lambda x: checkpoint(Lookup.apply, x, table, use_reentrant=False), x, use_reentrant=False).sum().backward()
    assert [a is table and a.tag == "lookup" for a, _ in found] == [True, True]
    assert [b.requires_grad for _, b in found] == [True, True]


@pytest.mark.told("checkpoint_side_effects", why="the block counts its runs")
def test_the_check_can_be_left_out():
    f = differing(lambda x: x.sin().exp(), lambda x: x.sin().tanh())
    run_backward(f, determinism_check="none")


@pytest.mark.skipif(not OURS, reason="PyTorch does not look at ops and values")
def test_debug_names_the_first_op_that_differs():
    f = differing(lambda x: (x.sin() + 1).exp(), lambda x: (x.sin() * 1).exp())
    with pytest.raises(CheckpointError, match="The first op that diverged is number 1") as info:
        run_backward(f, debug=True)
    assert "forward:       add(float32[2])" in str(info.value) and "recomputation: mul(float32[2])" in str(info.value)


@pytest.mark.skipif(not OURS, reason="PyTorch does not look at ops and values")
def test_debug_names_the_first_op_with_another_result():
    f = differing(lambda x: (x.sin() + 1).exp(), lambda x: (x.sin() + 2).exp())
    with set_checkpoint_debug_enabled(True), pytest.raises(CheckpointError, match="gives another result than the forward pass") as info:
        run_backward(f)
    assert "add(float32[2])" in str(info.value)


def test_debug_of_a_function_that_does_not_differ():
    assert_close(run_backward(wave, debug=True), run_backward(wave))


@pytest.mark.skipif(not OURS, reason="PyTorch computes with what it finds")
def test_a_recomputed_tensor_that_is_written_to():
    def f(x):
        y = x.sin()
        z = y.exp()  # saves its result
        return z.mul_(2)

    with pytest.raises(RuntimeError, match="modified by an inplace operation when it was recomputed"):
        run_backward(f, early_stop=False)


def test_inputs_that_were_written_to():
    x = leaf(1.0, 2.0)
    y = x * 1
    z = checkpoint(wave, y, use_reentrant=False)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


# -- memory -------------------------------------------------------------------


@pytest.mark.skipif(not OURS, reason="our statistics")
def test_less_is_kept():
    def f(x):
        for _ in range(20):
            x = x.sin()
        return x

    def kept(run):
        gc.collect()
        before = torch._C._memory_stats()["allocated"]
        y = run(torch.ones(10_000, requires_grad=True))
        del run
        return (torch._C._memory_stats()["allocated"] - before) / 40_000, y

    plain, y = kept(f)
    checkpointed, z = kept(lambda x: checkpoint(f, x, use_reentrant=False))
    assert plain > 20 and checkpointed < 3
    assert y.shape == z.shape


@pytest.mark.skipif(not OURS, reason="counts our objects")
def test_nothing_is_left_behind():
    from retrograd import _C

    x = torch.ones(10, requires_grad=True)

    def step():
        nested(2, x * 1).sum().backward()
        torch.autograd.grad(checkpoint(wave, x, use_reentrant=False).sum(), x, create_graph=True)
        checkpoint(wave, x, use_reentrant=True).sum().backward()
        with contextlib.suppress(CheckpointError):
            run_backward(differing(lambda x: x.sin().exp(), lambda x: x.sin().cos()))
        x.grad = None

    step()
    gc.collect()
    before = _C._live_objects()
    for _ in range(50):
        step()
    gc.collect()
    after = _C._live_objects()
    assert all(b - a <= 2 for a, b in zip(before, after, strict=True)), (before, after)


def test_a_region_that_is_never_run_is_freed():
    x = leaf(1.0)
    y = checkpoint(wave, x * 1, use_reentrant=False)
    ref = weakref.ref(y)
    del y
    gc.collect()
    assert ref() is None


def test_no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_backward(wave)


@pytest.mark.skipif(not OURS, reason="our statistics")
def test_peak_of_a_stack_of_blocks():
    width = 32

    def block(x, w, up, down):
        functional = torch.nn.functional
        h = functional.layer_norm(x, (width,))
        attention = (h @ w @ h.transpose(-2, -1)).softmax(-1)
        x = x + attention @ h
        return x + functional.gelu(x @ up) @ down

    blocks = [
        [(torch.randn(*s) * 0.1).requires_grad_() for s in ((width, width), (width, 4 * width), (4 * width, width))] for _ in range(12)
    ]
    data = torch.randn(4, 64, width)

    def peak(wrap):
        gc.collect()
        before = torch.memory_allocated()
        torch.reset_peak_memory_stats()
        x = data
        for tensors in blocks:
            x = wrap(x, *tensors)
        x.square().mean().backward()
        grads = [t.grad for ts in blocks for t in ts]
        for t in (t for ts in blocks for t in ts):
            t.grad = None
        return torch.max_memory_allocated() - before, grads

    plain, expected = peak(block)
    checkpointed, got = peak(lambda *args: checkpoint(block, *args, use_reentrant=False))
    assert_close(got, expected)
    assert checkpointed < 0.4 * plain


def test_a_context_that_cannot_be_entered_leaves_nothing_behind():
    class Fails:
        def __enter__(self):
            raise KeyError("mine")

        def __exit__(self, *exc_info):
            raise AssertionError("was not entered")

    for debug in (False, True):
        with pytest.raises(KeyError):
            checkpoint(
                torch.sin, torch.ones(2, requires_grad=True), use_reentrant=False, debug=debug, context_fn=lambda: (Fails(), Fails())
            )
    if torch.__name__ == "retrograd":
        with torch.doctor.off(), pytest.raises(RuntimeError, match="the handler stack is empty"):
            torch._C._pop_op_handler()


def test_a_recomputed_function_is_freed_without_the_collector():
    class Keep(Function):
        outputs = []

        @staticmethod
        def forward(ctx, x):
            y = x.clone()
            ctx.save_for_backward(y)
            Keep.outputs.append(weakref.ref(y))
            return y

        @staticmethod
        def backward(ctx, grad):
            ctx.saved_tensors
            return grad

    gc.disable()
    try:
        checkpoint(Keep.apply, leaf(1.0, 2.0), use_reentrant=False).sum().backward()
        assert [r() is not None for r in Keep.outputs] == [False, False]
    finally:
        gc.enable()
