"""forward_ad: levels, dual tensors, writes in place and views, custom Functions, derivatives of derivatives."""

import gc

import pytest

import retrograd as torch
from retrograd import _C
from retrograd.autograd import forward_ad

X = [[0.3, -1.2, 0.8], [2.0, 0.1, -0.4]]
T = [[1.0, 0.5, -2.0], [0.25, -1.0, 3.0]]


@pytest.fixture
def x():
    return torch.tensor(X, dtype=torch.float64)


@pytest.fixture
def t():
    return torch.tensor(T, dtype=torch.float64)


def difference(f, x, t, step=1e-6):
    return (f(x + step * t) - f(x - step * t)) / (2 * step)


def tangent_of(f, x, t):
    with forward_ad.dual_level():
        value, tangent = forward_ad.unpack_dual(f(forward_ad.make_dual(x, t)))
    assert torch.equal(value, f(x))
    return tangent


def close(a, b, tolerance=1e-7):
    assert torch.allclose(a, b, rtol=tolerance, atol=tolerance), f"{a}\n{b}"


# ---- levels ----


def test_a_level_is_needed():
    one = torch.ones(2)
    with pytest.raises(RuntimeError, match="no level exists, make sure to enter_dual_level"):
        forward_ad.make_dual(one, one)
    with pytest.raises(RuntimeError, match="Dual level must be a positive number"):
        forward_ad.exit_dual_level()
    assert forward_ad.unpack_dual(one) == (one, None)


def test_levels_of_this_api_do_not_nest():
    with forward_ad.dual_level(), pytest.raises(RuntimeError, match="Nested forward mode AD is not supported"):
        forward_ad.enter_dual_level()
    assert forward_ad.enter_dual_level() == 0
    forward_ad.exit_dual_level(level=0)


def test_an_exception_leaves_the_level():
    with pytest.raises(ZeroDivisionError), forward_ad.dual_level():
        raise ZeroDivisionError
    with forward_ad.dual_level():
        pass


def test_as_a_decorator(x, t):
    @forward_ad.dual_level()
    def directional(x, t):
        return forward_ad.unpack_dual(forward_ad.make_dual(x, t).sin().sum()).tangent

    close(directional(x, t), (x.cos() * t).sum())


def test_tangents_end_with_their_level(x, t):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, t) * 2
        assert forward_ad.unpack_dual(dual).tangent is not None
    assert forward_ad.unpack_dual(dual).tangent is None
    with forward_ad.dual_level():
        assert forward_ad.unpack_dual(dual).tangent is None
        assert forward_ad.unpack_dual(dual.exp()).tangent is None


def test_nothing_stays_behind(x, t):
    def run():
        leaf = x.clone().requires_grad_()
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(leaf, t)
            y = dual.tanh().sigmoid().softmax(1)  # their nodes save outputs, whose tangents lead back to the nodes
            forward_ad.unpack_dual(y.sum()).tangent.backward()

    run()
    gc.collect()
    before = _C._live_objects()
    gc.disable()
    try:
        for _ in range(5):
            run()
        assert _C._live_objects() == before
    finally:
        gc.enable()


# ---- duals ----


def test_what_a_dual_is(x, t):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, t)
        assert dual is not x and dual.data_ptr() == x.data_ptr() and dual._base is x
        assert forward_ad.unpack_dual(x).tangent is None
        assert "tangent=tensor" in repr(dual)
        primal, tangent = forward_ad.unpack_dual(dual)
        assert forward_ad.unpack_dual(primal).tangent is None
        assert forward_ad.UnpackedDualTensor._fields == ("primal", "tangent")
        close(tangent, t, 0)


def test_refusals(x, t):
    with forward_ad.dual_level():
        with pytest.raises(ValueError, match="Expected primal to be floating point or complex, but got: torch.int64"):
            forward_ad.make_dual(torch.arange(3), torch.ones(3))
        with pytest.raises(ValueError, match="Expected tangent to be floating point or complex, but got: torch.int64"):
            forward_ad.make_dual(torch.ones(3), torch.arange(3))
        with pytest.raises(RuntimeError, match=r"Tensor is of size \[2, 3\], the forward gradient of size \[2\]"):
            forward_ad.make_dual(x, torch.ones(2))
        with pytest.raises(RuntimeError, match="already has a forward gradient at the same level"):
            forward_ad.make_dual(forward_ad.make_dual(x, t), t)


def test_a_tangent_of_another_layout(x, t):
    turned = t.t().contiguous().t()
    f = lambda x: x.view(-1).as_strided((4,), (1,), 1)
    close(tangent_of(f, x, turned), f(t), 0)


def test_detach_and_integers_end_it(x, t):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, t)
        for end in (dual.detach(), dual.round().long(), dual > 0, dual.argmax()):
            assert forward_ad.unpack_dual(end).tangent is None
        assert forward_ad.unpack_dual(dual.detach() * dual).tangent is not None


def test_no_grad_has_no_say_but_inference_mode_does(x, t):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, t)
        with torch.no_grad():
            close(forward_ad.unpack_dual(dual * 2).tangent, 2 * t, 0)
        with torch.inference_mode():
            assert forward_ad.unpack_dual(dual * 2).tangent is None


def test_mixed_dtypes(x, t):
    half = tangent_of(lambda x: x * torch.ones(3, dtype=torch.float64), x.float(), t.float())
    assert half.dtype == torch.float64
    assert tangent_of(lambda x: x.float() * 2, x, t).dtype == torch.float32


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (x.tanh() * x).sum(1),
        lambda x: x @ x.t(),
        lambda x: torch.nn.functional.linear(x, x, x[:, 0]),
        lambda x: torch.nn.functional.layer_norm(x, (3,)),
        lambda x: torch.nn.functional.cross_entropy(x, torch.tensor([0, 2])),
        lambda x: torch.logsumexp(x, 0) + x.var(0) + x.norm(dim=0) + x.prod(0),
        lambda x: x.sort(1).values * x.cumsum(0) + x.max(1, keepdim=True).values,
        lambda x: torch.cat([x, x * 2])[[0, 3], 1:] + x[:, :2].flip(0),
        lambda x: torch.where(x > 0, x.exp(), x**2).index_select(1, torch.tensor([2, 2, 0])),
        lambda x: torch.linalg.solve(x @ x.t() + torch.eye(2, dtype=x.dtype), x),
        lambda x: torch.einsum("ij,kj->ik", x, x.sin()),
    ],
)
def test_against_differences(f, x, t):
    close(tangent_of(f, x, t), difference(f, x, t), 1e-6)


# ---- writes in place and views ----


def _rows(x):
    z = x.clone()
    z[0].mul_(x[1])
    z[:, 1] = x[:, 0] * 3
    return z


def _into_plain(x):
    z = torch.zeros(2, 3, dtype=x.dtype)
    z[1] = x[0]
    return z.exp_() * x


def _view_first(x):
    z = torch.zeros(2, 3, dtype=x.dtype)
    row = z[1]
    z.copy_(x)
    return row * row


def _turned(x):
    z = x * 1
    z.t_()
    z.unsqueeze_(0)
    return z.sin_()


def _overwritten(x):
    z = x.clone()
    z[0].zero_()
    z[1].fill_(2)
    return z + x


def _with_itself(x):
    z = x.clone()
    z.mul_(z)
    return z.add_(z.view(2, 3))


@pytest.mark.parametrize("f", [_rows, _into_plain, _view_first, _turned, _overwritten, _with_itself])
def test_in_place(f, x, t):
    close(tangent_of(f, x, t), difference(f, x, t), 1e-6)


def test_an_op_does_not_share_its_tangent_with_its_input(x, t):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, t.clone())
        same = dual + 0
        same.mul_(5)
        close(forward_ad.unpack_dual(dual).tangent, t, 0)
        close(forward_ad.unpack_dual(same).tangent, 5 * t, 0)


# ---- derivatives of derivatives ----


def _f(x):
    return (x.tanh() * x.exp()).softmax(1).pow(2).sum() + (x @ x.t()).sin().sum()


def _gradient(x):
    x = x.clone().requires_grad_()
    return torch.autograd.grad(_f(x), x)[0]


def test_forward_over_backward(x, t):
    with forward_ad.dual_level():
        leaf = x.clone().requires_grad_()
        gradient = torch.autograd.grad(_f(forward_ad.make_dual(leaf, t)), leaf)[0]
        found = forward_ad.unpack_dual(gradient).tangent
    close(found, difference(_gradient, x, t), 1e-6)


def test_backward_over_forward(x, t):
    leaf = x.clone().requires_grad_()
    with forward_ad.dual_level():
        tangent = forward_ad.unpack_dual(_f(forward_ad.make_dual(leaf, t))).tangent
    close(torch.autograd.grad(tangent, leaf)[0], difference(_gradient, x, t), 1e-6)


def test_the_tangent_may_require_grad(x, t):
    t = t.requires_grad_()
    with forward_ad.dual_level():
        tangent = forward_ad.unpack_dual(forward_ad.make_dual(x, t).sin().sum()).tangent
    close(torch.autograd.grad(tangent, t)[0], x.cos(), 1e-12)


def test_levels_underneath_nest(x, t):
    outer, inner = _C._enter_dual_level(), _C._enter_dual_level()
    try:
        result = _f(_C._make_dual(_C._make_dual(x, t, outer), t, inner))
        first = _C._unpack_dual(result, inner)[1]
        second = _C._unpack_dual(first, outer)[1]
    finally:
        _C._exit_dual_level(inner)
        _C._exit_dual_level(outer)
    step = 1e-4
    close(second, (_f(x + step * t) - 2 * _f(x) + _f(x - step * t)) / step**2, 1e-5)
    assert _C._unpack_dual(first, outer)[1] is None


# ---- custom Functions ----


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.save_for_forward(inputs[0])

    @staticmethod
    def backward(ctx, grad):
        return grad * 3 * ctx.saved_tensors[0] ** 2

    @staticmethod
    def jvp(ctx, t):
        return t * 3 * ctx.saved_tensors[0] ** 2


class Exp(torch.autograd.Function):
    """Saves its output."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        ctx.y = y
        return y

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]

    @staticmethod
    def jvp(ctx, t):
        return t * ctx.y.detach()


def test_function_jvp(x, t):
    close(tangent_of(Cube.apply, x, t), 3 * x**2 * t, 1e-12)


on_ctx = pytest.mark.told("custom_function_wrong_gradient", why="one way to save is on ctx")


@pytest.mark.parametrize(("function", "second"), [(Cube, lambda x: 6 * x), pytest.param(Exp, lambda x: x.exp(), marks=on_ctx)])
def test_forward_over_the_backward_of_a_function(function, second, x, t):
    with forward_ad.dual_level():
        leaf = x.clone().requires_grad_()
        gradient = torch.autograd.grad(function.apply(forward_ad.make_dual(leaf, t)).sum(), leaf)[0]
        found = forward_ad.unpack_dual(gradient).tangent
    close(found, second(x) * t, 1e-12)


def test_function_with_several_inputs_and_outputs(x, t):
    seen = []

    class Many(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, scale):
            ctx.scale = scale
            return x * scale, y + 1, torch.arange(3)

        @staticmethod
        def jvp(ctx, x_t, y_t, none):
            seen.append((y_t, none))
            return x_t * ctx.scale, y_t, None

    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, t)
        first, second, third = Many.apply(dual, x, 4.0)
        close(forward_ad.unpack_dual(first).tangent, 4 * t, 0)
        close(forward_ad.unpack_dual(second).tangent, torch.zeros_like(x), 0)
        assert forward_ad.unpack_dual(third).tangent is None
    assert seen[0][1] is None


def test_function_without_jvp_or_with_a_wrong_one(x, t):
    class Without(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    class WrongCount(Without):
        @staticmethod
        def jvp(ctx, t):
            return t, t

    class WrongSize(Without):
        @staticmethod
        def jvp(ctx, t):
            return t[0]

    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, t)
        with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
            Without.apply(dual)
        with pytest.raises(RuntimeError, match=r"invalid number of forward gradients \(expected 1 but got 2\)"):
            WrongCount.apply(dual)
        with pytest.raises(RuntimeError, match=r"different size than that of the original Tensor: .* of size \[2, 3\], .* of size \[3\]"):
            WrongSize.apply(dual)
        close(forward_ad.unpack_dual(dual * 2).tangent, 2 * t, 0)


def test_function_that_writes_its_input(x, t):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def jvp(ctx, t):
            return t.mul_(2)

    class Apart(Double):
        @staticmethod
        def jvp(ctx, t):
            return t * 2

    def f(x):
        y = x.clone()
        out = Double.apply(y)
        assert out is y
        return y

    close(tangent_of(f, x, t), 2 * t, 0)
    with pytest.raises(RuntimeError, match="not modifying the forward mode gradients inplace"):
        tangent_of(lambda x: Apart.apply(x.clone()), x, t)


# ---- gradcheck ----


def test_gradcheck_with_forward_mode(x):
    leaf = x.clone().requires_grad_()
    assert torch.autograd.gradcheck(_f, (leaf,), check_forward_ad=True)
    assert torch.autograd.gradcheck(Cube.apply, (leaf,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(_f, (leaf,), check_fwd_over_rev=True)

    class Wrong(Cube):
        @staticmethod
        def jvp(ctx, t):
            return t * 3.01 * ctx.saved_tensors[0] ** 2

    with pytest.raises(torch.autograd.gradcheck.__globals__["GradcheckError"], match="(?i)forward"):
        torch.autograd.gradcheck(Wrong.apply, (leaf,), check_forward_ad=True)


# ---- whose memory a tangent is ----


def dual_of(x, t):
    return forward_ad.make_dual(x, t)


def the_tangent(dual):
    return forward_ad.unpack_dual(dual).tangent


def test_the_tangent_is_the_tensor_that_was_given(x, t):
    with forward_ad.dual_level():
        dual = dual_of(x, t)
        assert the_tangent(dual) is t
        assert the_tangent(dual.view(-1)).data_ptr() == t.data_ptr()
        assert the_tangent(dual * 1).data_ptr() != t.data_ptr()


def test_one_buffer_for_all_directions():
    x, t = torch.tensor([1.0, 2.0, 3.0]), torch.zeros(3)
    found = []
    with forward_ad.dual_level():
        dual = dual_of(x, t)
        for i in range(3):
            t.zero_()
            t[i] = 1
            found.append(the_tangent((dual * dual).sum()).item())
    assert found == [2.0, 4.0, 6.0]


@pytest.mark.parametrize(
    "write", [lambda d: d.mul_(3), lambda d: d[:].mul_(3), lambda d: d.view(3, 1)[:, 0].mul_(3), lambda d: d.copy_(d * 3)]
)
def test_a_write_to_a_dual_writes_the_tangent(write):
    x, t = torch.ones(3), torch.tensor([1.0, 2.0, 3.0])
    with forward_ad.dual_level():
        dual = dual_of(x, t)
        version = t._version
        write(dual)
        assert the_tangent(dual) is t
        assert t._version > version
    assert t.tolist() == [3.0, 6.0, 9.0]
    assert x.tolist() == [3.0, 3.0, 3.0]


def test_jvp_takes_the_tangent_itself():
    x, t = torch.ones(3), torch.ones(3)
    assert torch.func.jvp(lambda x: x.mul_(2) * 1, (x,), (t,))[1].tolist() == [2.0] * 3
    assert (x.tolist(), t.tolist()) == ([2.0] * 3, [2.0] * 3)


def test_a_tensor_that_is_its_own_tangent():
    """The value is written first, and must not be what becomes of the tangent."""
    x = torch.tensor([1.0, 2.0])
    with forward_ad.dual_level():
        dual = dual_of(x, x)
        assert the_tangent(dual) is x
        dual.mul_(dual)
        assert forward_ad.unpack_dual(dual).primal.tolist() == [1.0, 4.0]
        assert the_tangent(dual).tolist() == [2.0, 8.0]
        dual[0].mul_(3)
        assert the_tangent(dual).tolist() == [6.0, 8.0]


@pytest.mark.parametrize(
    ("value", "tangent", "kept"),
    [
        (lambda: torch.zeros(10)[2:5], lambda: torch.ones(3), False),
        (lambda: torch.zeros(10)[2:5], lambda: torch.ones(10)[2:5], True),
        (lambda: torch.ones(3), lambda: torch.ones(5)[:3], False),
        (lambda: torch.ones(2, 3).t(), lambda: torch.ones(3, 2), False),
        (lambda: torch.ones(3), lambda: torch.ones(1).expand(3), False),
        (lambda: torch.ones(3, 1), lambda: torch.ones(1, 3).t(), True),
        (lambda: torch.zeros(4)[2:2], lambda: torch.zeros(4)[3:3], True),
    ],
)
def test_a_tangent_lies_in_its_memory_as_the_value_does(value, tangent, kept):
    v, t = value(), tangent()
    with forward_ad.dual_level():
        found = the_tangent(dual_of(v, t))
        assert (found is t) is kept
        assert found.tolist() == t.tolist()
        if not kept:
            assert (found.stride(), found.storage_offset()) == (v.stride(), v.storage_offset())
            assert found.untyped_storage().nbytes() == v.untyped_storage().nbytes()


def test_as_strided_reaches_what_is_beside_the_elements():
    with forward_ad.dual_level():
        dual = dual_of(torch.zeros(5)[:4].detach(), torch.ones(4))
        assert the_tangent(dual.as_strided((5,), (1,), 0)).tolist() == [1.0, 1.0, 1.0, 1.0, 0.0]
        plain = torch.zeros(6)[1:5].detach()
        plain[:2].copy_(dual[:2])
        assert the_tangent(plain.as_strided((6,), (1,), 0)).tolist() == [0.0, 1.0, 1.0, 0.0, 0.0, 0.0]


def test_a_tangent_that_was_moved_to_fit_is_differentiated():
    leaf = torch.tensor([1.0, 2.0], requires_grad=True)
    with forward_ad.dual_level():
        dual = dual_of(torch.ones(5)[1:3].detach(), leaf)
        torch.testing.assert_close(torch.autograd.grad(the_tangent(dual**2).sum(), leaf)[0], torch.tensor([2.0, 2.0]))


# ---- what jvp of a Function is held to ----


@pytest.mark.parametrize("jvp", [lambda ctx, t: t, lambda ctx, t: t * 2, lambda ctx, t: t.mul_(2).clone()])
def test_jvp_has_to_write_the_tangent_in_place(jvp):
    forgetful = staticmethod(jvp)

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        jvp = forgetful

    with forward_ad.dual_level():
        dual = dual_of(torch.ones(()), torch.ones(()))
        with pytest.raises(RuntimeError, match="jvp function must modify the corresponding gradient inplace"):
            Double.apply(dual)


def test_jvp_that_writes_in_place_writes_the_given_tangent():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def jvp(ctx, t):
            return t.mul_(2)

    t = torch.ones(2)
    with forward_ad.dual_level():
        dual = dual_of(torch.ones(2), t)
        assert the_tangent(Double.apply(dual)) is t
    assert t.tolist() == [2.0, 2.0]


def test_words_of_refusals_of_jvp():
    class Whole(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            i = x.clone()
            ctx.mark_non_differentiable(i)
            return x.clone(), i

        @staticmethod
        def jvp(ctx, t):
            return t, t.clone()

    class Part(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:1]

        @staticmethod
        def jvp(ctx, t):
            return t[:1].clone().view(1)

    with forward_ad.dual_level():
        dual = dual_of(torch.ones(2), torch.ones(2))
        with pytest.raises(RuntimeError, match="You should return None at that position instead"):
            Whole.apply(dual)
        with pytest.raises(RuntimeError, match="not returning a view of the given grad input"):
            Part.apply(dual)
        with pytest.raises(RuntimeError, match="not returning a view of the same base as the given grad input"):
            Part.apply(dual.view(2))


@pytest.mark.parametrize(
    ("op", "name"),
    [
        (lambda d, o: torch.igamma(d, o), "igamma"),
        (lambda d, o: torch.special.zeta(d, o), "special_zeta"),
        (lambda d, o: torch.special.zeta(d, 2.0), "special_zeta"),
        (lambda d, o: torch.heaviside(o, d), "heaviside"),
        (lambda d, o: d // o, "floor_divide"),
        (lambda d, o: torch.unique(d.view(2, 1), dim=0), "unique_dim"),
        (lambda d, o: d.clone().igamma_(o), "igamma"),
    ],
)
def test_ops_without_forward_mode_say_so(op, name):
    with forward_ad.dual_level():
        dual = dual_of(torch.ones(2), torch.ones(2))
        with pytest.raises(NotImplementedError, match=f"^Trying to use forward AD with {name} that does not support it") as error:
            op(dual, torch.ones(2))
        assert "backward" not in str(error.value)
        assert torch.igamma(torch.ones(2), dual).tolist()  # the other argument has a derivative


def test_the_rows_that_embedding_scales_down_move_as_they_did():
    """Scaling to max_norm is no part of the derivative, in reverse mode neither."""
    weight = torch.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]])
    t = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with forward_ad.dual_level():
        dual = dual_of(weight, t)
        rows = torch.nn.functional.embedding(torch.tensor([0, 1, 0]), dual, max_norm=1.0)
        assert the_tangent(rows).tolist() == [[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]]
    torch.testing.assert_close(weight, torch.tensor([[0.6, 0.8], [0.3, 0.4], [6.0, 8.0]]))


def test_gaussian_nll_loss_moves_with_its_variance():
    one, two = torch.tensor([1.0]), torch.tensor([2.0])
    with forward_ad.dual_level():
        loss = torch.nn.functional.gaussian_nll_loss(one, two, dual_of(torch.tensor([0.5]), torch.ones(1)))
        assert the_tangent(loss).item() == pytest.approx(-1.0)
