"""gradcheck and gradgradcheck: what they accept, what they refuse, and how they say so."""

import re

import pytest

import retrograd as torch
from retrograd.autograd import gradcheck, gradgradcheck
from retrograd.autograd.gradcheck import GradcheckError, get_analytical_jacobian, get_numerical_jacobian
from retrograd.testing import assert_close

OURS = torch.__name__ == "retrograd"
D = torch.float64


def values(*shape):
    torch.manual_seed(0)
    return (torch.rand(*shape, dtype=D) + 0.5).requires_grad_()


def function(forward, backward, name="Planted", **ctx_options):
    """A Function of one input: backward(saved input, grad)."""

    class Planted(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.set_materialize_grads(ctx_options.get("materialize", True))
            return forward(x)

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return backward(x, grad)

    return Planted.apply


wrong = function(lambda x: x**3, lambda x, g: g * 3 * x**2 * 1.01)
right = function(lambda x: x**3, lambda x, g: g * 3 * x**2)
wrong_second = function(lambda x: x**3, lambda x, g: g * 3 * x.detach() ** 2)

both_modes = pytest.mark.parametrize("fast_mode", [False, True])


# -- right derivatives pass ---------------------------------------------------

FUNCTIONS = {
    "product": lambda a, b: a * b,
    "several outputs": lambda a, b: (a * b, (a + b).sum(), a.sin()),
    "an integer output": lambda a, b: (a * b, torch.ones(2)),
    "matrix product": lambda a, b: a @ b.t(),
    "unused input": lambda a, b: a.exp(),
    "empty": lambda a, b: a[:0] * b[:0],
    "views": lambda a, b: (a.t()[1:] * b.t()[:-1]).reshape(-1),
}


@both_modes
@pytest.mark.parametrize("name", FUNCTIONS)
def test_right_derivatives_pass(name, fast_mode):
    assert gradcheck(FUNCTIONS[name], (values(2, 3), values(2, 3)), fast_mode=fast_mode)


@both_modes
@pytest.mark.parametrize("name", FUNCTIONS)
def test_right_second_derivatives_pass(name, fast_mode):
    assert gradgradcheck(FUNCTIONS[name], (values(2, 3), values(2, 3)), fast_mode=fast_mode)


def test_inputs_of_other_kinds_are_passed_on():
    assert gradcheck(lambda x, index, n, none: x[index] * n, (values(3), torch.tensor([0, 2]), 2.0, None))
    assert gradcheck(lambda x: x * 3, values(2))
    assert gradcheck(lambda x, y: x * y, [values(2), values(2).detach()])


def test_noncontiguous_and_zero_dimensional_inputs():
    base = values(3, 4).detach()
    assert gradcheck(lambda x: x.sin(), (base.t().requires_grad_(),))
    assert gradcheck(lambda x: x.sin(), (base[:, ::2].detach().requires_grad_(),))
    assert gradcheck(lambda x: x.sin(), (torch.tensor(0.5, dtype=D, requires_grad=True),))
    assert gradcheck(lambda x: x.sin(), (torch.rand(0, 2, dtype=D, requires_grad=True),))


def test_inputs_that_the_function_reaches_by_itself():
    w = values(2)
    assert gradcheck(lambda _: w.sin() * 2, (w,))


def test_inputs_that_are_not_leaves():
    x = values(2)
    assert gradcheck(lambda y: y.sin(), (x * 2,))


def test_inputs_are_left_as_they_were():
    x = values(2, 2)
    before = x.detach().clone()
    y = (x * x).sum()
    assert gradcheck(lambda t: t * t, (x,))
    assert torch.equal(x.detach(), before)
    y.backward()  # the version of x did not move either


def test_the_same_tensor_twice():
    x = values(2)
    assert gradcheck(lambda a, b: a * b, (x, x))


# -- wrong derivatives do not -------------------------------------------------


@both_modes
def test_a_wrong_derivative_is_found(fast_mode):
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradcheck(wrong, (values(2, 3),), fast_mode=fast_mode)
    assert gradcheck(wrong, (values(2, 3),), fast_mode=fast_mode, raise_exception=False) is False
    assert gradcheck(right, (values(2, 3),), fast_mode=fast_mode)


@both_modes
def test_a_wrong_second_derivative_is_found(fast_mode):
    assert gradcheck(wrong_second, (values(2, 3),), fast_mode=fast_mode)
    assert not gradgradcheck(wrong_second, (values(2, 3),), fast_mode=fast_mode, raise_exception=False)


@both_modes
@pytest.mark.parametrize("scale", [1.002, 0.998, -1.0, 0.0])
def test_small_errors_are_found(scale, fast_mode):
    f = function(lambda x: x.sin(), lambda x, g: g * x.cos() * scale)
    assert not gradcheck(f, (values(3),), fast_mode=fast_mode, raise_exception=False)


@both_modes
def test_one_wrong_entry_is_found(fast_mode):
    def backward(x, g):
        mask = torch.ones_like(x)
        mask[1, 2] = 1.05
        return g * 2 * mask

    f = function(lambda x: x * 2, backward)
    with pytest.raises(GradcheckError) as info:
        gradcheck(f, (values(2, 3),), fast_mode=fast_mode)
    if OURS:
        assert "worst entry: output 0[1, 2] with respect to input 0[1, 2]: numerical 2, analytical 2.1" in re.sub(
            r"numerical 2\.0*\d*|numerical 1\.9+\d*", "numerical 2", str(info.value)
        )
        assert "(1 of 36 entries are wrong)" in str(info.value)


def test_the_message_names_input_and_output():
    def f(a, b):
        return a * b, wrong(b)

    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 1 with respect to input 1") as info:
        gradcheck(f, (values(2), values(2)))
    assert "numerical:tensor(" in str(info.value) and "analytical:tensor(" in str(info.value)


def test_a_cut_history_is_found():
    with pytest.raises(GradcheckError, match="Numerical gradient for function expected to be zero"):
        gradcheck(lambda x: x.detach() * 2, (values(2),))
    assert gradcheck(lambda x: x.detach() * 0, (values(2),))


def test_a_function_that_differs_between_runs_is_found():
    noise = function(lambda x: x * 2, lambda x, g: g * (2 + torch.rand_like(g) * 1e-6))
    with pytest.raises(GradcheckError, match="Backward is not reentrant"):
        gradcheck(noise, (values(2),))
    assert gradcheck(noise, (values(2),), nondet_tol=1e-3)


def test_a_gradient_that_ignores_its_grad_output_is_found():
    constant = function(lambda x: x * 2, lambda x, g: g * 2 + 1e-7)
    with pytest.raises(GradcheckError, match="backward not multiplied by grad_output"):
        gradcheck(constant, (values(2),))


def test_a_gradient_for_nothing_is_found():
    f = function(lambda x: x * 2, lambda x, g: torch.ones_like(x) if g is None else g * 2, materialize=False)
    with pytest.raises(
        GradcheckError, match="Expected all input grads to be undefined or zero when all output grads are undefined or zero"
    ):
        gradcheck(f, (values(2),))
    assert gradcheck(f, (values(2),), check_undefined_grad=False)


def test_tolerances_and_step():
    assert not gradcheck(lambda x: x**3, (values(2),), eps=1.0, raise_exception=False)
    assert gradcheck(lambda x: x**3, (values(2),), eps=1.0, atol=2.0)
    assert gradcheck(wrong, (values(2),), rtol=0.1)


# -- single precision ---------------------------------------------------------


def test_help_for_single_precision():
    x = values(2, 3).detach().float().requires_grad_()
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double precision"), pytest.raises(GradcheckError) as info:
        gradcheck(lambda t: t.sin(), (x,))
    if OURS:
        assert "input 0 is torch.float32" in str(info.value) and "eps=1e-2" in str(info.value)
        with pytest.warns(UserWarning, match="not a double precision"):
            assert gradcheck(lambda t: t.sin(), (x,), eps=1e-2, atol=1e-2, rtol=1e-2)


# -- arguments ----------------------------------------------------------------


def test_nothing_to_check():
    with pytest.raises(ValueError, match="gradcheck expects at least one input tensor to require gradient"):
        gradcheck(lambda x: x * 2, (torch.ones(2, dtype=D),))


def test_overlapping_inputs_are_refused():
    x = torch.rand(3, 1, dtype=D).expand(3, 2).requires_grad_()
    with pytest.raises(RuntimeError, match="The 0th input has a dimension with stride 0"):
        gradcheck(lambda t: t * 2, (x,))


def test_exceptions_of_the_function_come_through():
    with pytest.raises(KeyError):
        gradcheck(lambda x: {}["missing"], (values(2),), raise_exception=False)


def test_modes_must_make_sense():
    with pytest.raises(AssertionError, match="at least one of check_forward_ad or check_backward_ad"):
        gradcheck(lambda x: x, (values(2),), check_backward_ad=False)
    with pytest.raises(AssertionError, match="check_batched_forward_grad=True requires check_forward_ad"):
        gradcheck(lambda x: x, (values(2),), check_batched_forward_grad=True)


def test_batches_of_gradients():
    assert gradcheck(lambda a, b: (a * b).sin(), (values(2, 3), values(2, 3)), check_batched_grad=True)
    assert gradcheck(lambda a, b: a.sin(), (values(2, 3), values(2, 3)), check_batched_grad=True, check_grad_dtypes=True, masked=False)


def test_grad_outputs_may_be_given():
    x = values(2, 3)
    assert gradgradcheck(lambda t: t**3, (x,), torch.rand(2, 3, dtype=D))
    assert gradgradcheck(lambda t: t**3, (x,), gen_non_contig_grad_outputs=True)


def test_forward_mode():
    assert gradcheck(lambda x: x.sin() * x, (values(2),), check_forward_ad=True)
    assert gradcheck(lambda x: x.sin() * x, (values(2),), check_forward_ad=True, fast_mode=True)


@pytest.mark.parametrize("fast", [False, True])
def test_batches_of_tangents(fast):
    def f(a, b):
        return (a @ b).sin(), a.cumprod(0)

    options = {"check_forward_ad": True, "check_batched_forward_grad": True, "check_batched_grad": True, "fast_mode": fast}
    assert gradcheck(f, (values(3, 2), values(2, 2)), **options)
    assert gradgradcheck(f, (values(3, 2), values(2, 2)), check_fwd_over_rev=True, check_batched_grad=True, fast_mode=fast)


# -- Jacobians ----------------------------------------------------------------


def test_jacobians_have_a_row_per_input_element():
    x = values(2)
    with pytest.warns(FutureWarning):
        (numerical,) = get_numerical_jacobian(lambda inputs: torch.stack([inputs[0].sum() * 2, inputs[0][0], inputs[0][1]]), (x,))
    with pytest.warns(FutureWarning):
        (analytical,), reentrant, sizes, types = get_analytical_jacobian((x,), torch.stack([x.sum() * 2, x[0], x[1]]))
    expected = torch.tensor([[2.0, 1.0, 0.0], [2.0, 0.0, 1.0]], dtype=D)
    assert_close(numerical, expected)
    assert_close(analytical, expected)
    assert reentrant and sizes and types


@both_modes
def test_a_wrong_jvp_is_told_from_a_wrong_backward(fast_mode):
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, t):
            return t * 3

    with pytest.raises(GradcheckError, match="Jacobian computed with forward mode mismatch for output 0 with respect to input 0"):
        gradcheck(Wrong.apply, (values(2),), check_forward_ad=True, fast_mode=fast_mode)


@pytest.mark.on_cpu("a backward makes its tensors on the CPU under a default device, as in PyTorch")
def test_the_check_of_undefined_gradients_says_how_to_switch_it_off():
    class Constant(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return torch.full((2,), 2.0, dtype=D) if g is None else g * 2

    with pytest.warns(UserWarning, match="check_undefined_grad=False"), pytest.raises(GradcheckError, match="undefined or zero"):
        gradcheck(Constant.apply, (values(2),))
    assert gradcheck(Constant.apply, (values(2),), check_undefined_grad=False)


# ---- complex numbers ----


def _complex(*shape):
    return torch.randn(*shape, dtype=torch.complex128, requires_grad=True)


MODES = [{}, {"fast_mode": True}, {"check_forward_ad": True}, {"check_forward_ad": True, "fast_mode": True}, {"check_batched_grad": True}]


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize(
    "f",
    [
        lambda z: z * z.exp(),
        lambda z: z.abs(),
        lambda z: (z.conj() * z, z.real),
        lambda z: torch.view_as_real(z),
        lambda z: torch.polar(z.abs(), z.angle()),
        lambda z: z.imag,
        lambda z: z.sum() / z.abs().sum(),
    ],
)
def test_complex_functions(f, mode):
    assert gradcheck(f, (_complex(3),), **mode)
    assert gradgradcheck(f, (_complex(3),), fast_mode=mode.get("fast_mode", False), check_fwd_over_rev="check_forward_ad" in mode)


def test_complex_and_real_inputs_together():
    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda z, x: z * x + torch.complex(x, z.real), (_complex(3), x), check_grad_dtypes=True)


def _forgets_to_conjugate():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, z):
            ctx.save_for_backward(z)
            return z * z

        @staticmethod
        def backward(ctx, grad):
            return grad * 2 * ctx.saved_tensors[0]

    return Square.apply


@pytest.mark.parametrize("fast", [False, True])
def test_a_missing_conjugate_is_found(fast):
    with pytest.raises(GradcheckError, match="(?s)While considering the imaginary part of complex outputs only, Jacobian mismatch.*worst"):
        gradcheck(_forgets_to_conjugate(), (_complex(2),), fast_mode=fast)
    assert gradcheck(_forgets_to_conjugate(), (_complex(2),), fast_mode=fast, raise_exception=False) is False


def test_the_real_part_alone_may_be_wrong():
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, z):
            return z.clone()

        @staticmethod
        def backward(ctx, grad):
            return torch.complex(grad.real * 2, grad.imag)

    with pytest.raises(GradcheckError, match="While considering the real part of complex outputs only"):
        gradcheck(lambda z: torch.complex(Doubled.apply(z).real, z.imag), (_complex(2),))


def test_single_precision_complex_is_warned_about():
    z = torch.randn(2, dtype=torch.complex64, requires_grad=True)
    with pytest.warns(UserWarning, match="not a double precision floating point or complex"):
        gradcheck(lambda z: z * 2, (z,), eps=1e-2, atol=1e-2, rtol=1e-2)


# -- forward mode, as the function sees it --------------------------------------


def test_the_function_sees_a_public_level():
    forward_ad = torch.autograd.forward_ad

    def wrong_tangent(x):
        primal, tangent = forward_ad.unpack_dual(x)
        return x * 1 if tangent is None else forward_ad.make_dual(primal, tangent * 1.1)

    assert gradcheck(wrong_tangent, (values(2),))
    for fast in (False, True):
        with pytest.raises(GradcheckError, match="Jacobian computed with forward mode mismatch for output 0 with respect to input 0"):
            gradcheck(wrong_tangent, (values(2),), check_forward_ad=True, fast_mode=fast)


def test_inputs_of_the_check_of_forward_mode_do_not_require_grad():
    seen = set()

    def f(x, y):
        seen.add((torch.autograd.forward_ad._current_level, x.requires_grad, y.requires_grad))
        return x * y

    assert gradcheck(f, (values(2), values(2)), check_forward_ad=True, check_batched_forward_grad=True)
    assert seen == {(-1, True, True), (0, False, False)}


class TwoInputs(torch.autograd.Function):
    """x + y, with a count of the calls of jvp."""

    calls = 0

    @staticmethod
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        return x + y

    @staticmethod
    def jvp(ctx, a, b):
        TwoInputs.calls += 1
        return b.clone() if a is None else a.clone() if b is None else a + b


@pytest.mark.parametrize(("undefined", "batched", "expected"), [(False, False, 2), (True, False, 6), (False, True, 8), (True, True, 12)])
def test_how_often_a_jvp_is_called(undefined, batched, expected):
    TwoInputs.calls = 0
    options = {"check_undefined_grad": undefined, "check_batched_forward_grad": batched}
    assert gradcheck(TwoInputs.apply, (values(1), values(1)), check_forward_ad=True, check_backward_ad=False, **options)
    assert TwoInputs.calls == expected


def test_inputs_without_a_tangent():
    class Forgetful(TwoInputs):
        @staticmethod
        def jvp(ctx, a, b):
            return b.clone() if a is None else a * 2 if b is None else a + b

    arguments = (Forgetful.apply, (values(2), values(2)))
    with pytest.raises(GradcheckError, match="Mismatch in tangent values for output with index") as info:
        gradcheck(*arguments, check_forward_ad=True, check_backward_ad=False)
    if OURS:
        assert "output with index: 0 when input: 1 has an undefined tangent value" in str(info.value)
    assert gradcheck(*arguments, check_forward_ad=True, check_backward_ad=False, raise_exception=False) is False
    assert gradcheck(*arguments, check_forward_ad=True, check_backward_ad=False, check_undefined_grad=False)


def test_what_vmap_cannot_do_is_a_failed_check():
    class Reads(TwoInputs):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, grad):
            grad.sum().item()
            return grad, grad

        @staticmethod
        def jvp(ctx, a, b):
            (a + b).sum().item()
            return a + b

    arguments = (Reads.apply, (values(2), values(2)))
    forward = {"check_forward_ad": True, "check_backward_ad": False, "check_batched_forward_grad": True}
    for options in ({"check_batched_grad": True}, forward):
        with pytest.raises(GradcheckError, match="While computing batched gradients, got: "):
            gradcheck(*arguments, **options)
        assert gradcheck(*arguments, raise_exception=False, **options) is False
    assert gradcheck(*arguments, check_forward_ad=True)


# -- gradgradcheck --------------------------------------------------------------


def test_constant_grad_outputs_are_not_differentiated():
    constant = function(lambda x: x * x, lambda x, g: g.detach() * 2 * x)
    g = torch.ones(3, dtype=D)
    assert gradgradcheck(constant, (values(3),), (g,))
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 1"):
        gradgradcheck(constant, (values(3),), (g.requires_grad_(),))
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 1"):
        gradgradcheck(constant, (values(3),))
    assert gradgradcheck(lambda x: x**3, (values(3),), (torch.ones(3),))  # of single precision


@pytest.mark.parametrize("fast", [False, True])
def test_forward_over_reverse_of_some_inputs(fast):
    arguments = (values(3), torch.tensor([1, 2, 3]), torch.full((3,), 2.0, dtype=D))
    assert gradgradcheck(lambda x, n, c: x**3 * n + c * x.sin(), arguments, check_fwd_over_rev=True, fast_mode=fast)
    only_forward = {"check_fwd_over_rev": True, "check_rev_over_rev": False, "check_undefined_grad": False}
    with pytest.raises(GradcheckError, match="Jacobian computed with forward mode mismatch"):
        gradgradcheck(lambda x: x.detach() ** 2 * x, (values(2),), fast_mode=fast, **only_forward)


# -- functions that are not functions, and other people's numbers -----------------


@pytest.mark.parametrize("options", [{}, {"raise_exception": False}, {"fast_mode": True}, {"check_forward_ad": True}])
def test_outputs_that_depend_on_values(options):
    one = torch.ones(1, dtype=D, requires_grad=True)
    where = "" if options.get("fast_mode") else r" on index \(0,\)"
    with pytest.raises(AssertionError, match=f"return outputs with the same shape when inputs are perturbed{where} by 1e-06"):
        gradcheck(lambda x: torch.cat([x, x]) if (x >= 1).all() else x.clone(), (one,), **options)
    with pytest.raises(AssertionError, match=f"return outputs with the same dtype when inputs are perturbed{where} by 1e-06"):
        gradcheck(lambda x: x * 1 if (x >= 1).all() else x.float(), (one,), **options)
    if OURS:
        with pytest.raises(AssertionError, match=f"return as many outputs when inputs are perturbed{where} by 1e-06, but got: 1 and 2"):
            gradcheck(lambda x: (x * 1, x * 2) if (x >= 1).all() else (x * 1,), (one,), **options)


def test_the_numerical_jacobian_of_several_outputs_is_that_of_the_first():
    x, y = values(2), values(3)
    with pytest.warns(FutureWarning):
        found = get_numerical_jacobian(lambda i: (2 * i[0], 3 * i[0].sum() * i[1]), (x, y), eps=1e-6)
    assert_close(found[0], 2 * torch.eye(2, dtype=D))
    assert_close(found[1], torch.zeros(3, 2, dtype=D))
    with pytest.warns(FutureWarning):
        (only,) = get_numerical_jacobian(lambda i: (2 * i[0], i[1]), (x, y), target=x, eps=1e-6)
    assert_close(only, 2 * torch.eye(2, dtype=D))


def test_the_warning_about_undefined_gradients():
    def hook(grad):
        if grad is None:
            raise RuntimeError("undefined")

    def f(x):
        y = x.clone()
        y.register_hook(hook)
        return y

    with pytest.warns(UserWarning, match="Backwards compatibility: New undefined gradient support checking feature is enabled by default"):
        assert gradcheck(f, (values(1),), raise_exception=False) is False


@pytest.mark.parametrize("options", [{"fast_mode": True}, {}, {"check_forward_ad": True}, {"check_forward_ad": True, "fast_mode": True}])
def test_the_random_stream_of_the_program_is_left_alone(options):
    x = values(3)
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    assert gradcheck(lambda x: x * x, (x,), **options)
    assert torch.equal(torch.rand(1), expected)
