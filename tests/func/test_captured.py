"""What a function may do inside a transform: write to what it made or was given, and nothing else; and what is refused there."""

import pytest

import retrograd as torch
from retrograd.autograd import forward_ad
from retrograd.func import functional_call, functionalize, grad, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap
from retrograd.testing import assert_close
from retrograd.utils.checkpoint import checkpoint

X = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)
RUNS = {
    "grad": lambda f: grad(lambda x: f(x).sum())(X),
    "vjp": lambda f: vjp(f, X),
    "jvp": lambda f: jvp(f, (X,), (X,)),
    "jacrev": lambda f: jacrev(f)(X),
    "jacfwd": lambda f: jacfwd(f)(X),
    "linearize": lambda f: linearize(f, X),
    "grad in vmap": lambda f: vmap(grad(lambda x: f(x).sum()))(X.expand(2, 3)),
    "vmap in grad": lambda f: grad(lambda x: vmap(f)(x).sum())(X.expand(2, 3)),
}
WRITES = {
    "add_": lambda t, x: t.add_(1),
    "add_ of what is differentiated": lambda t, x: t.add_(x),
    "view": lambda t, x: t[0].mul_(2),
    "assignment": lambda t, x: t.__setitem__(0, 1.0),
    "detach": lambda t, x: t.detach().add_(1),
    "fill_": lambda t, x: t.fill_(0),
    "normal_": lambda t, x: t.normal_(),
    "out": lambda t, x: torch.add(X, X, out=t),
}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("write", WRITES)
def test_captured_tensors_are_not_written_to(run, write):
    captured = torch.ones(3, dtype=torch.float64)

    def f(x):
        WRITES[write](captured, x)
        return x * 2

    with pytest.raises(RuntimeError, match="would mutate a captured Tensor|vmap: "):
        RUNS[run](f)
    assert captured.tolist() == [1, 1, 1] and not captured.requires_grad


@pytest.mark.parametrize("run", RUNS)
def test_what_was_made_inside_is_written_to(run):
    def f(x):
        made = [torch.zeros(3, dtype=torch.float64), torch.tensor([0.0, 0, 0], dtype=torch.float64), X * 0, torch.zeros_like(x)]
        for t in made:
            t.add_(x)
            t[0] = x[1]
            t.view(3)[1:].mul_(x[1:])
        return sum(made)

    def same(x):
        return 4 * torch.cat([x[1:2], x[1:] * x[1:]])

    if "vmap" in run:  # there zeros(3) is the same for all examples, and x is not
        with pytest.raises(RuntimeError, match="inplace arithmetic"):
            RUNS[run](f)
        return
    ours, expected = RUNS[run](f), RUNS[run](same)
    if run in ("vjp", "linearize"):
        ours, expected = (ours[0], ours[1](X)), (expected[0], expected[1](X))
    assert_close(ours, expected)


def test_arguments_are_written_to():
    for run in (
        lambda b: grad(lambda x, b: (b.add_(x), x.sum())[1])(X, b),
        lambda b: grad(lambda x, b=None: (b.add_(x), x.sum())[1])(X, b=b),
        lambda b: grad(lambda x, b: (b["k"][0].add_(x), x.sum())[1])(X, {"k": [b]}),
        lambda b: jacrev(lambda x, b: (b.add_(x), x * 2)[1])(X, b),
        lambda b: jacfwd(lambda x, b: (b.add_(x), x * 2)[1])(X, b),
    ):
        b = torch.zeros(3, dtype=torch.float64)
        run(b)
        assert_close(b, X)
        assert not b.requires_grad
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        grad(lambda x: x.mul_(2).sum())(X.clone())


def test_buffers_are_arguments():
    class Counts(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(3, dtype=torch.float64))

        def forward(self, x):
            self.seen.add_(x.detach())
            return (x * self.seen).sum()

    module, buffers = Counts(), {"seen": torch.zeros(3, dtype=torch.float64)}
    with pytest.raises(RuntimeError, match="mutate a captured Tensor"):
        grad(module)(X)
    assert_close(grad(lambda x, b: functional_call(module, b, x))(X, buffers), X)
    assert_close(buffers["seen"], X)


def test_an_inner_transform_captures_what_the_outer_one_made():
    def f(x):
        q = torch.ones(3, dtype=torch.float64)
        return grad(lambda z: (q.mul_(2) * z).sum())(x).sum()

    with pytest.raises(RuntimeError, match="mutate a captured Tensor"):
        grad(f)(X)


def test_results_have_no_history_of_the_inside():
    """A tensor made inside a transform inside vmap belongs to both: nothing of the inside shows outside."""

    def f(x, w):
        q = torch.zeros(3, dtype=torch.float64)
        q.add_(x)
        return (q**2).sum() * w

    found = vmap(lambda w: grad(f)(X, w))(torch.tensor([1.0, 2.0], dtype=torch.float64))
    assert not found.requires_grad
    assert_close(found, torch.stack([2 * X, 4 * X]))

    x = X.clone().requires_grad_()
    found = vmap(lambda w: grad(f)(x, w))(torch.tensor([1.0, 2.0], dtype=torch.float64))
    found.sum().backward()
    assert_close(x.grad, torch.full((3,), 6.0, dtype=torch.float64))


def test_leaves_made_inside():
    def f(x):
        w = torch.ones(3, dtype=torch.float64, requires_grad=True)
        return (w * x**2).sum()

    assert not grad(f)(X).requires_grad
    assert not vmap(grad(f))(X.expand(2, 3)).requires_grad

    def inner(x):
        w = torch.ones(3, dtype=torch.float64, requires_grad=True)
        return torch.autograd.grad((w * x**2).sum(), w, create_graph=True)[0].sum()

    assert_close(grad(inner)(X), 2 * X)
    assert_close(vmap(grad(inner))(X.expand(2, 3)), (2 * X).expand(2, 3))


REFUSED = {
    "requires_grad_": (lambda x: x.requires_grad_(), "You are attempting to call Tensor.requires_grad_\\(\\)"),
    "requires_grad_ of another": (lambda x: x * torch.ones(3).requires_grad_(), "You are attempting to call Tensor.requires_grad_\\(\\)"),
    "backward": (lambda x: (x * 2).sum().backward(), "backward\\(\\) called inside a functorch transform"),
    "autograd.backward": (lambda x: torch.autograd.backward((x * 2).sum()), "backward\\(\\) called inside a functorch transform"),
    "functional": (lambda x: torch.autograd.functional.jacobian(lambda y: y * 2, x), "torch.autograd.functional"),
}


@pytest.mark.parametrize("run", [name for name in RUNS if name != "linearize"])
@pytest.mark.parametrize("what", REFUSED)
def test_refused(run, what):
    f, words = REFUSED[what]
    with pytest.raises(RuntimeError, match=words):
        RUNS[run](f)
    assert torch.ones(2).requires_grad_().requires_grad  # and allowed again outside


def test_retain_grad_is_refused():
    with pytest.raises(RuntimeError, match="You are attempting to call Tensor.retain_grad\\(\\)"):
        grad(lambda x: ((x * 2).retain_grad(), x.sum())[1])(X)


def test_inside_vmap_a_tensor_has_no_memory():
    for f, kind, words in (
        (lambda x: x.data_ptr(), RuntimeError, "Cannot access data pointer"),
        (lambda x: x.untyped_storage(), NotImplementedError, "Cannot access storage"),
        (lambda x: x.data, RuntimeError, "accessing `data` under vmap"),
        (lambda x: torch.equal(x, x), RuntimeError, "Batching rule not implemented for aten::equal"),
        (lambda x: X[: x.long()], RuntimeError, "It looks like you're calling .item\\(\\)"),
        (lambda x: x.is_nonzero(), RuntimeError, "data-dependent control flow"),
    ):
        with pytest.raises(kind, match=words):
            vmap(f)(X)


def test_values_that_all_examples_share_can_be_read():
    def f(x, w):
        t = torch.tensor(2.0, dtype=torch.float64) * X[0]
        assert bool(t > 0) and t.tolist() == 1.0 and int(t) == 1
        return (x * t.item()).sum() * w

    assert_close(vmap(lambda w: grad(f)(X, w))(X), X.unsqueeze(1).expand(3, 3))


def test_inference_mode_does_not_matter():
    expected = grad(lambda x: (x**3).sum())(X)
    with torch.inference_mode():
        for run in (
            grad,
            lambda f: jacrev(f),
            lambda f: jacfwd(f),
            lambda f: lambda x: vjp(f, x)[1](torch.ones((), dtype=torch.float64))[0],
        ):
            found = run(lambda x: (x**3).sum())(X)
            assert_close(found, expected)
            assert not found.is_inference()
        assert_close(hessian(lambda x: (x**3).sum())(X), torch.diag(6 * X))
        assert torch.is_inference_mode_enabled()
    assert not torch.is_inference_mode_enabled()


def test_samples_made_in_inference_mode_have_second_derivatives():
    cubes = lambda x: (x[:2].exp().sum() + x**3).sum()
    with torch.inference_mode():
        rows = torch.tensor([[0.5, -1.0, 2.0], [1.0, 0.25, -0.5]], dtype=torch.float64)
        second = vmap(jacrev(grad(cubes)))(rows)
    for row, found in zip(rows, second, strict=True):
        expected = torch.diag(6 * row)
        expected[[0, 1], [0, 1]] += 3 * row[:2].exp()
        assert_close(found, expected)


def test_a_transform_that_fails_leaves_nothing_behind():
    def f(x):
        raise KeyError("mine")

    for run in RUNS.values():
        with pytest.raises(KeyError):
            run(f)
    assert not torch._C._in_transform() and torch.is_grad_enabled()
    torch.ones(2).add_(1)


def test_nested_deeper_than_births_can_say():
    f = lambda x: (x**12).sum()
    for _ in range(10):
        f = (lambda g: lambda x: grad(g)(x).sum())(f)
    assert_close(f(torch.ones(1, dtype=torch.float64)).item(), 12.0 * 11 * 10 * 9 * 8 * 7 * 6 * 5 * 4 * 3)


# -- checkpoints inside transforms ----------------------------------------------------------------


def plain(x):
    return (x.sin() * x).sum()


def kept(x):
    return checkpoint(plain, x, use_reentrant=False)


@pytest.mark.parametrize("debug", [False, True])
def test_checkpoints(debug):
    f = lambda x: checkpoint(plain, x, use_reentrant=False, debug=debug)
    batch = torch.stack([X, X.cos()])
    for run in (
        lambda f: jvp(f, (X,), (X.cos(),)),
        lambda f: grad(f)(X),
        lambda f: hessian(f)(X),
        lambda f: jacrev(jacfwd(f))(X),
        lambda f: jacfwd(jacfwd(f))(X),
        lambda f: jacrev(jacrev(f))(X),
        lambda f: vmap(f)(batch),
        lambda f: vmap(grad(f))(batch),
        lambda f: vmap(hessian(f))(batch),
        lambda f: grad(lambda x: vmap(f)(x).sum())(batch),
        lambda f: grad(lambda x: vmap(f, in_dims=1)(x).sum())(batch),
        lambda f: hessian(lambda x: vmap(f)(x.expand(2, 3)).sum())(X),
        lambda f: grad(lambda x: vmap(vmap(f))(x).sum())(batch.expand(2, 2, 3)),
        lambda f: grad(lambda x: vmap(grad(f))(x).sum())(batch),
    ):
        assert_close(run(f), run(plain))


def test_backward_through_a_checkpoint_in_vmap():
    a, b = (torch.stack([X, X.cos()]).requires_grad_() for _ in range(2))
    vmap(kept)(a).sum().backward()
    vmap(plain)(b).sum().backward()
    assert_close(a.grad, b.grad)
    noise = lambda x: checkpoint(lambda y: (y * torch.rand(3, dtype=torch.float64)).sin().sum(), x, use_reentrant=False)
    a.grad = None
    y = vmap(noise, randomness="different")(a)
    state = torch.get_rng_state()
    y.sum().backward()
    assert bool((state == torch.get_rng_state()).all()) and not torch._C._in_transform()


# -- functionalize and the rest -------------------------------------------------------------------


def test_functionalize():
    a = X.clone()

    def f(x):
        x[0].mul_(2)
        return x.view(3, 1), x

    out, same = functionalize(f)(a)
    assert same is a and a[0] == 1 and out._storage_info()[0] == a._storage_info()[0]
    out, same = functionalize(f, remove="mutations_and_views")(a)
    assert same is a and a[0] == 2 and out._storage_info()[0] != a._storage_info()[0]
    with pytest.raises(RuntimeError, match="received invalid argument for remove=views"):
        functionalize(f, remove="views")
    w = torch.ones(3, dtype=torch.float64, requires_grad=True)
    functionalize(lambda x: x.mul_(w))(a)
    a.sum().backward()
    assert w.grad is not None
    assert_close(vmap(grad(functionalize(lambda x: x.clone().mul_(x).sum())))(X.expand(2, 3)), (2 * X).expand(2, 3))


def test_debug_unwrap():
    seen = []
    vmap(vmap(lambda x: (seen.append((torch.func.debug_unwrap(x), torch.func.debug_unwrap(x, recurse=False))), x)[1]))(X.expand(2, 3))
    assert seen[0][0].shape == (2, 3) and seen[0][1].shape == (3,)
    grad(lambda x: (seen.append(torch.func.debug_unwrap(x)), x.sum())[1])(X)
    assert not seen[1].requires_grad and seen[1].tolist() == X.tolist()
    assert torch.func.debug_unwrap(X) is X
    with pytest.raises(TypeError):
        torch.func.debug_unwrap(3)


@pytest.mark.parametrize(
    ("pattern", "sizes", "expected"),
    [
        ("a b c -> c a b", {}, lambda x: x.permute(2, 0, 1)),
        ("a b c -> (a b) c", {}, lambda x: x.flatten(0, 1)),
        ("a b c -> a (c b)", {}, lambda x: x.mT.flatten(1)),
        ("a b (c d) -> d a b c", {"c": 2}, lambda x: x.unflatten(2, (2, 2)).permute(3, 0, 1, 2)),
        ("a ... -> ... a", {}, lambda x: x.movedim(0, -1)),
        ("... -> ... 1", {}, lambda x: x.unsqueeze(-1)),
        ("a ... c -> c 1 ... a", {}, lambda x: x.permute(2, 1, 0).unsqueeze(1)),
        ("(a 1) b c -> a (b c)", {}, lambda x: x.flatten(1)),
    ],
)
def test_rearrange(pattern, sizes, expected):
    x = torch.arange(24).reshape(2, 3, 4)
    assert torch.equal(torch.func.rearrange(x, pattern, **sizes), expected(x))
    batch = torch.stack([x, x * 2])
    found = vmap(lambda x: torch.func.rearrange(x, pattern, **sizes))(batch)
    assert torch.equal(found, torch.stack([expected(x), expected(x * 2)]))


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("a b -> b", "only on one side"),
        ("a b", "single '->'"),
        ("a a -> a", "duplicate dimension 'a'"),
        ("a (b -> a b", "Imbalanced parentheses"),
        ("a b) -> a b", "Imbalanced parentheses"),
        ("a ((b) -> a b", "Imbalanced parentheses"),
        ("(a c) b -> a b c", "sizes of two dimensions at once"),
        ("a b -> b a 2", "unnamed axes of size 1"),
        ("a ... ... -> a", "only one ellipsis"),
        ("a . b -> a b", "only inside ellipsis"),
        ("_a b -> b _a", "start or end with underscore"),
        ("a-b c -> c a-b", "not a valid python identifier"),
        ("a b c -> a b c", "Number of dimensions in pattern"),
        ("a b c ... -> a b c ...", "Number of dimensions in pattern"),
        ("1 b -> b", "must have size 1"),
        ("(a c) b -> a b c", "two dimensions"),
    ],
)
def test_rearrange_refuses(pattern, words):
    with pytest.raises(ValueError, match=words):
        torch.func.rearrange(torch.ones(2, 3), pattern)


def test_rearrange_sizes():
    with pytest.raises(ValueError, match="cannot be split"):
        torch.func.rearrange(torch.ones(2, 3), "a (b c) -> a b c", b=2)
    with pytest.raises(ValueError, match="not found in rearrange expression"):
        torch.func.rearrange(torch.ones(2, 3), "a b -> b a", z=2)
    assert torch.func.rearrange([torch.ones(2), torch.zeros(2)], "a b -> b a").tolist() == [[1, 0], [1, 0]]


def test_replace_all_batch_norm_modules_():
    class Norm(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.track_running_stats = True
            self.register_buffer("running_mean", torch.zeros(1))
            self.register_buffer("running_var", torch.ones(1))
            self.register_buffer("num_batches_tracked", torch.tensor(0))

    model = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Sequential(Norm()))
    assert torch.func.replace_all_batch_norm_modules_(model) is model
    assert not model[1][0].track_running_stats and not dict(model.named_buffers())


# -- forward mode ---------------------------------------------------------------------------------


def test_a_number_that_carries_a_tangent():
    with forward_ad.dual_level():
        d = forward_ad.make_dual(torch.tensor(2.0), torch.tensor(3.0))
        y = torch.zeros(3)
        y.fill_(d)
        assert forward_ad.unpack_dual(y).tangent.tolist() == [3, 3, 3]
        assert forward_ad.unpack_dual(torch.zeros(2).masked_fill(torch.tensor([True, False]), d)).tangent.tolist() == [3, 0]
        with pytest.raises(NotImplementedError, match="Trying to use forward AD with"):
            torch.mul(d, 2, out=torch.zeros(()))
        with pytest.raises(RuntimeError, match="Setting a forward grad that itself has a forward gradient"):
            forward_ad.make_dual(torch.tensor(1.0), d)
    assert jvp(lambda x: torch.zeros(3).fill_(x), (torch.tensor(2.0),), (torch.tensor(3.0),))[1].tolist() == [3, 3, 3]


def test_forward_mode_switched_off():
    assert forward_ad._is_fwd_grad_enabled()
    with forward_ad.dual_level():
        d = forward_ad.make_dual(X, X)
        with forward_ad._set_fwd_grad_enabled(False):
            y = d * 2
            assert not forward_ad._is_fwd_grad_enabled()
            assert forward_ad.unpack_dual(forward_ad.make_dual(X, X)).tangent is None
        assert forward_ad.unpack_dual(y).tangent is None and forward_ad.unpack_dual(d * 2).tangent is not None
    with forward_ad._set_fwd_grad_enabled(False):
        assert_close(jvp(lambda x: x * 2, (X,), (X,))[1], 2 * X)
    with torch.inference_mode():
        assert not forward_ad._is_fwd_grad_enabled()


def test_masked_scatter_with_a_mask_that_differs():
    x = torch.stack([X, X.cos()])

    def f(source, mask):
        return (torch.zeros(3, dtype=torch.float64).masked_scatter(mask, source) ** 2).sum()

    found = vmap(grad(f))(x, x > 0)
    assert_close(found, torch.stack([grad(f)(x[k], x[k] > 0) for k in range(2)]))
    assert_close(grad(lambda x: vmap(f)(x, x > 0).sum())(x), found)


def test_lu_unpack_of_a_batch():
    a = torch.stack([torch.eye(3, dtype=torch.float64).flip(0) * 2 + 1, torch.arange(9, dtype=torch.float64).reshape(3, 3).cos()])
    lu, pivots, _ = torch.linalg.lu_factor_ex(a)
    for found, expected in zip(vmap(torch.lu_unpack)(lu, pivots), torch.lu_unpack(lu, pivots), strict=True):
        assert_close(found, expected)


def test_gradients_by_name():
    a, b = torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)
    found = torch.autograd.grad((a**2).sum() + b.sum(), {"a": a, "b": b})
    assert list(found) == ["a", "b"] and found["a"].tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="index 1 appears to not have been used"):
        torch.autograd.grad((a**2).sum(), {"a": a, "b": b})
    with pytest.raises(RuntimeError, match="cannot be empty"):
        torch.autograd.grad((a**2).sum(), {})
    import collections

    with pytest.raises(TypeError, match="must be a dict, not OrderedDict"):
        torch.autograd.grad((a**2).sum(), collections.OrderedDict(a=a))
    (a**2).sum().backward(inputs={"a": a})
    assert a.grad.tolist() == [2, 2]


def test_tensors_made_from_data_inside_vmap():
    def parameter(x, w):
        return ((torch.nn.Parameter(torch.zeros(3, dtype=torch.float64)) + x) ** 2).sum() * w

    def memory(x, w):
        z = torch.frombuffer(bytearray(24), dtype=torch.float64) if hasattr(torch, "frombuffer") else torch.tensor([0.0, 0, 0]).double()
        z.add_(x)
        return (z**2).sum() * w

    for f in (parameter, memory):
        found = vmap(lambda w, f=f: grad(f)(X, w))(torch.tensor([1.0, 2.0], dtype=torch.float64))
        assert_close(found.detach(), torch.stack([2 * X, 4 * X]))
