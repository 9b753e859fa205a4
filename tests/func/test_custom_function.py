"""autograd.Function inside transforms: its own vmap rule, a generated one, or none."""

import pytest

import retrograd
from retrograd.autograd import Function
from retrograd.func import grad, jacfwd, jacrev, jvp, vmap
from retrograd.testing import assert_close

X = retrograd.linspace(0.1, 1.2, 6, dtype=retrograd.float64).reshape(2, 3)
W = retrograd.tensor([-1.0, 0.5, 2.0], dtype=retrograd.float64)


class Generated(Function):
    """sin(x) * y * k, with derivatives that are wrong by factors 2 and 3: so one sees whose they are."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, y, k):
        return x.sin() * y * k, x.sum()

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y, ctx.k = inputs
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)

    @staticmethod
    def backward(ctx, grad, grad_sum):
        x, y = ctx.saved_tensors
        assert isinstance(ctx.needs_input_grad[0], bool) and ctx.needs_input_grad[2] is False
        return 2 * grad * x.cos() * y * ctx.k + grad_sum, 3 * grad * x.sin() * ctx.k, None

    @staticmethod
    def jvp(ctx, dx, dy, _):
        x, y = ctx.saved_tensors
        return 2 * dx * x.cos() * y * ctx.k + 3 * dy * x.sin() * ctx.k, dx.sum()


class Own(Function):
    """x * y, with derivatives wrong by factors 5 and 7."""

    calls: list = []

    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return 5 * grad * y, 7 * grad * x

    @staticmethod
    def vmap(info, in_dims, x, y):
        Own.calls.append((info.batch_size, info.randomness, in_dims, tuple(x.shape), tuple(y.shape)))
        return Own.apply(x, y).movedim(0, -1), -1


def by_generated(x):
    return Generated.apply(x, W, 2.0)[0]


def test_values():
    product, total = vmap(lambda x: Generated.apply(x, W, 2.0))(X)
    assert_close((product, total), (X.sin() * W * 2, X.sum(1)))


def test_its_own_derivative_is_used_inside_and_outside():
    expected = 2 * X.cos() * W * 2
    assert_close(vmap(grad(lambda x: by_generated(x).sum()))(X), expected)
    assert_close(grad(lambda x: vmap(by_generated)(x).sum())(X), expected)
    assert_close(vmap(grad(lambda x: vmap(lambda a: Generated.apply(a, a, 1.0)[0])(x).sum()))(X), 2 * X.cos() * X + 3 * X.sin())
    assert_close(grad(lambda x: vmap(vmap(lambda a: Generated.apply(a, a, 1.0)[0]))(x).sum())(X), 2 * X.cos() * X + 3 * X.sin())


def test_gradients_of_shared_arguments_are_summed_over_the_batch():
    def f(w):
        product, total = vmap(lambda x: Generated.apply(x, w, 2.0))(X)
        return product.sum() + total.sum()

    assert_close(grad(f)(W), (3 * X.sin() * 2).sum(0))
    w = W.clone().requires_grad_()
    f(w).backward()
    assert_close(w.grad, (3 * X.sin() * 2).sum(0))


def test_forward_mode():
    expected = 2 * X * X.cos() * W * 2
    assert_close(jvp(vmap(by_generated), (X,), (X,))[1], expected)
    assert_close(vmap(lambda x: jvp(by_generated, (x,), (x,))[1])(X), expected)
    diagonal = (2 * W.cos() * W * 2).diag()
    assert_close(jacrev(by_generated)(W), diagonal)
    assert_close(jacfwd(by_generated)(W), diagonal)


def test_second_derivatives():
    def f(x):
        return Generated.apply(x, x, 1.0)[0]

    # backward is made of ops: its derivative is theirs.
    expected = -2 * X.sin() * X + 2 * X.cos() + 3 * X.cos()
    assert_close(vmap(vmap(grad(grad(f))))(X), expected)
    assert_close(grad(lambda x: vmap(vmap(grad(f)))(x).sum())(X), expected)


def test_its_own_rule():
    Own.calls.clear()
    assert_close(vmap(Own.apply, randomness="same")(X, X), X * X)
    assert_close(vmap(lambda x: Own.apply(x, W))(X), X * W)
    assert Own.calls == [(2, "same", (0, 0), (2, 3), (2, 3)), (2, "error", (0, None), (2, 3), (3,))]
    assert_close(vmap(vmap(Own.apply))(X, X), X * X)
    assert_close(vmap(lambda x: Own.apply(W, W) + x)(X), W * W + X)


def test_derivatives_with_its_own_rule():
    assert_close(vmap(grad(lambda a, b: Own.apply(a, b).sum(), argnums=(0, 1)))(X, 2 * X), (10 * X, 7 * X))
    assert_close(grad(lambda a: vmap(Own.apply)(a, a).sum())(X), 12 * X)


class Inplace(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x.mul_(2)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_dirty(*inputs)

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def test_in_place():
    x = X.clone()
    assert_close(vmap(Inplace.apply)(x), 2 * X)
    assert_close(x, 2 * X)
    assert_close(grad(lambda t: vmap(Inplace.apply)(t * 1).sum())(X), retrograd.full_like(X, 2))
    assert_close(vmap(grad(lambda t: Inplace.apply(t * 1).sum()))(X), retrograd.full_like(X, 2))


class Plain(Function):
    @staticmethod
    def forward(x):
        return x * 1

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad):
        return grad


class Both(Plain):
    generate_vmap_rule = True

    @staticmethod
    def vmap(info, in_dims, x):
        return x, 0


class NoTuple(Plain):
    @staticmethod
    def vmap(info, in_dims, x):
        return x


class WrongDims(Plain):
    @staticmethod
    def vmap(info, in_dims, x):
        return x, (0, 0)


class Old(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        return grad


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (Plain, "You tried to vmap over Plain, but it does not have vmap support"),
        (Both, "it has both generate_vmap_rule=True and an overridden vmap staticmethod"),
        (NoTuple, "Expected the vmap staticmethod to have two returns"),
        (WrongDims, "(?s)returned an incompatible \\(output, out_dims\\) tuple"),
        (Old, "it must override the setup_context staticmethod"),
    ],
)
def test_errors(function, message):
    with pytest.raises(RuntimeError, match=message):
        vmap(function.apply)(X)
    assert_close(grad(lambda x: function.apply(x).sum())(X), retrograd.ones_like(X))


def test_writing_to_an_argument_that_all_samples_share():
    """jacfwd maps over directions: the argument itself is the same for all of them."""

    class Doubled(retrograd.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            x.mul_(2)
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_dirty(inputs[0])

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

        @staticmethod
        def jvp(ctx, tangent):
            return tangent.mul_(2)

    found = retrograd.func.jacfwd(lambda y: Doubled.apply(y.clone()))(retrograd.ones(3))
    assert_close(found, 2 * retrograd.eye(3))
    found = retrograd.func.jvp(retrograd.func.vmap(lambda y: Doubled.apply(y.clone())), (retrograd.ones(2, 3),), (retrograd.ones(2, 3),))[1]
    assert_close(found, retrograd.full((2, 3), 2.0))
