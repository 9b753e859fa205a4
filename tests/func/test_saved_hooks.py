"""Saved-tensor hooks inside transforms: they keep data, and derivatives of derivatives are what they are without hooks."""

from __future__ import annotations

import random

import pytest

import retrograd as torch
from retrograd import func
from retrograd.autograd import forward_ad
from retrograd.autograd.graph import save_on_cpu, saved_tensors_hooks
from tests.func import random_programs as programs


def point():
    return torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)


def identity():
    return saved_tensors_hooks(lambda t: t, lambda t: t)


@pytest.mark.parametrize("hooks", programs.HOOKS)
@pytest.mark.parametrize("order", [*programs.SECOND, *programs.THIRD])
def test_random_programs(hooks, order):
    rng = random.Random(f"{hooks} {order}")
    for _ in range(4):
        inside = hooks != "allow_mutation" and rng.random() < 0.3
        assert programs.disagreement(rng.randrange(10**9), hooks, order, inside) is None


@pytest.mark.parametrize("hooks", [save_on_cpu, identity])
def test_an_output_that_its_op_saves_has_its_tangent(hooks):
    x, v = point(), torch.ones(3, dtype=torch.float64)
    with hooks():
        product = func.jvp(func.grad(lambda x: x.exp().sum()), (x,), (v,))[1]
        hessian = func.hessian(torch.prod)(x)
    torch.testing.assert_close(product, x.exp())
    torch.testing.assert_close(hessian, torch.tensor([[0.0, 3, 2], [3, 0, 1], [2, 1, 0]], dtype=torch.float64))


def test_hooks_get_data_alone():
    """Inside vmap all samples; no history, no tangents: NumPy can take it, and keeping it keeps no graph."""
    seen = []

    def pack(t):
        assert not t.requires_grad
        assert forward_ad.unpack_dual(t).tangent is None
        seen.append(tuple(t.shape))
        return t.numpy()

    with saved_tensors_hooks(pack, torch.from_numpy):
        result = func.vmap(func.jacfwd(func.grad(lambda x: x.sin().prod())))(torch.stack([point(), point() * 2]))
    torch.testing.assert_close(result[1], func.hessian(lambda x: x.sin().prod())(point() * 2))
    assert (2, 3) in seen


def test_a_write_after_saving():
    """A copy that a hook has made is the value of that time, and so is the tangent that is kept beside it."""

    def f(x):
        y = x * 1
        z = y * y
        y.mul_(x)  # y and its tangent
        return (z * y).sum()

    def written_out(x):
        return (x * x * (x * x)).sum()

    x = point()
    with saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        found = func.jvp(func.grad(f), (x,), (x,))[1]
        both = func.hessian(f)(x)
    torch.testing.assert_close(found, func.jvp(func.grad(written_out), (x,), (x,))[1])
    torch.testing.assert_close(both, func.hessian(written_out)(x))


def test_hooks_may_write_to_what_is_theirs():
    """A hook is outside the transform that is running: its buffer is no captured tensor."""
    buffer = torch.zeros(64, dtype=torch.float64)
    end = 0

    def pack(t):
        nonlocal end
        place = slice(end, end + t.numel())
        buffer[place].copy_(t.reshape(-1))
        end = place.stop
        return place, t.shape

    with saved_tensors_hooks(pack, lambda kept: buffer[kept[0]].reshape(kept[1]).clone()):
        found = func.grad(lambda x: func.grad(lambda y: y.sin().prod())(x).sum())(point())
    torch.testing.assert_close(found, func.hessian(lambda x: x.sin().prod())(point()).sum(0))


def test_tangents_end_with_their_level():
    x = point().requires_grad_()
    with identity(), forward_ad.dual_level():
        y = forward_ad.make_dual(x, torch.ones_like(x)).exp()
    (gradient,) = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(gradient, x.detach().exp())


@pytest.mark.parametrize("wrong", [lambda t: t[:2], lambda t: t.float()])
def test_what_does_not_fit_is_refused(wrong):
    with saved_tensors_hooks(lambda t: t, wrong), pytest.raises(RuntimeError, match="unpack_hook expected to be a Tensor of size"):
        func.hessian(lambda x: x.exp().sum())(point())


def test_hooks_of_one_saved_tensor():
    def f(x):
        y = x.exp()
        y.grad_fn._raw_saved_result.register_hooks(lambda t: t.clone(), lambda t: t)
        return y.sum()

    torch.testing.assert_close(func.jacrev(func.grad(f))(point()), point().exp().diag())


def test_a_generated_batching_rule_has_two_kinds_of_saved_tensors():
    class Cube(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x**3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0], output)
            ctx.save_for_forward(inputs[0])

        @staticmethod
        def backward(ctx, grad):
            x, _ = ctx.saved_tensors
            return grad * 3 * x**2

        @staticmethod
        def jvp(ctx, tangent):
            (x,) = ctx.saved_tensors
            return tangent * 3 * x**2

    rows = torch.stack([point(), -point()])
    tangent = func.jvp(func.vmap(Cube.apply), (rows,), (torch.ones_like(rows),))[1]
    torch.testing.assert_close(tangent, 3 * rows**2)
