"""Complex tensors: making them, their parts and conjugates, and gradients through all of that. tests/ops/test_complex.py has the ops."""

import copy
import io
import pickle
import warnings

import numpy
import pytest

import retrograd as torch

Z = [1 + 2j, 3 - 1j]


def leaf(*values, dtype=torch.complex128):
    return torch.tensor(values or Z, dtype=dtype, requires_grad=True)


# ---- making and reading ----


def test_dtypes():
    assert torch.cfloat is torch.complex64 and torch.cdouble is torch.complex128
    assert torch.complex64.is_complex and not torch.complex64.is_floating_point
    assert (torch.complex64.itemsize, torch.complex128.itemsize) == (8, 16)
    assert torch.complex64.to_real() is torch.float32 and torch.float64.to_complex() is torch.complex128
    assert torch.tensor(Z).dtype is torch.complex64
    assert torch.tensor([1, 2.5, 3j]).dtype is torch.complex64
    assert torch.tensor(1j, dtype=torch.complex128).item() == 1j
    with pytest.raises(TypeError, match="only floating-point types are supported as the default type"):
        torch.set_default_dtype(torch.complex64)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (torch.complex64, torch.float64, torch.complex128),
        (torch.complex64, torch.int64, torch.complex64),
        (torch.bool, torch.complex128, torch.complex128),
        (torch.complex64, torch.complex128, torch.complex128),
        (torch.complex64, torch.float16, torch.complex64),
    ],
)
def test_promotion(a, b, expected):
    assert torch.promote_types(a, b) is expected
    assert (torch.ones(2, dtype=a) + torch.ones(2, dtype=b)).dtype is expected


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float16, torch.float32, torch.float64])
def test_a_complex_number_beside_a_tensor(dtype):
    expected = torch.complex128 if dtype is torch.float64 else torch.complex64
    assert (torch.ones(2, dtype=dtype) * 1j).dtype is expected
    assert (1j - torch.ones(2, dtype=dtype).float().to(dtype) * 1).dtype is expected


def test_conversions_keep_or_drop_parts():
    z = torch.tensor(Z)
    assert torch.ones(2).to(torch.complex64).tolist() == [1, 1]
    assert z.to(torch.complex128).tolist() == Z and z.cdouble().cfloat().tolist() == Z
    assert torch.tensor([0j, 1j]).bool().tolist() == [False, True]
    with pytest.warns(UserWarning, match="discards the imaginary part"):
        assert z.to(torch.float64).tolist() == [1, 3]
    with pytest.warns(UserWarning, match="discards the imaginary part"):
        assert torch.zeros(2, dtype=torch.int64).copy_(z).tolist() == [1, 3]


def test_numbers():
    assert complex(torch.tensor(1 + 2j)) == 1 + 2j
    assert float(torch.tensor(2 + 0j)) == 2.0 and int(torch.tensor(2 + 0j)) == 2
    with pytest.raises(RuntimeError, match="value cannot be converted to type double without overflow"):
        float(torch.tensor(1j))
    assert bool(torch.tensor(1j)) and not bool(torch.tensor(0j))
    for call in (
        lambda: torch.ones(2).fill_(1j),
        lambda: torch.full((2,), 1j, dtype=torch.float32),
        lambda: torch.ones(2).masked_fill(torch.tensor([True, False]), 1j),
        lambda: torch.addcmul(torch.ones(2), torch.ones(2), torch.ones(2), value=1j),
        lambda: torch.ones(2).scatter(0, torch.tensor([0]), 1j),
    ):
        with pytest.raises(RuntimeError, match="value cannot be converted to type float without overflow"):
            call()
    with pytest.raises(RuntimeError, match="argument alpha must not be a complex number"):
        torch.ones(2).add(1, alpha=1j)
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type Float"):
        torch.ones(2).mul_(1j)
    with pytest.raises(TypeError, match="must be real number, not complex"):
        torch.tensor([1j], dtype=torch.float32)


@pytest.mark.parametrize(
    "name", ["max", "sort", "argmax", "floor", "clamp", "relu", "erf", "cummax", "median", "topk", "unique", "softmax"]
)
def test_ops_that_need_an_order_refuse(name):
    arguments = {"clamp": (0, 1), "cummax": (0,), "topk": (1,), "softmax": (0,)}.get(name, ())
    with pytest.raises((NotImplementedError, RuntimeError), match="not implemented for 'ComplexFloat'|not support(ed for)? complex"):
        getattr(torch, name)(torch.tensor(Z), *arguments)
    with pytest.raises(NotImplementedError, match="sgn"):
        torch.tensor(Z).sign()
    with pytest.raises(NotImplementedError):
        torch.lt(torch.tensor(Z), torch.tensor(Z))


def test_repr():
    assert repr(torch.tensor([1.5 + 2j, -1j])) == "tensor([1.5000+2.j, -0.0000-1.j])"
    assert repr(torch.tensor([1j], dtype=torch.complex128)) == "tensor([0.+1.j], dtype=torch.complex128)"
    assert repr(torch.tensor(1 - 1j, requires_grad=True)) == "tensor(1.-1.j, requires_grad=True)"


def test_numpy_and_dlpack_share_memory():
    z = torch.tensor(Z)
    array = z.numpy()
    assert array.dtype == numpy.complex64 and array.tolist() == Z
    array[0] = 5j
    assert z[0].item() == 5j
    for dtype in (numpy.complex64, numpy.complex128):
        back = torch.from_numpy(numpy.array(Z, dtype=dtype))
        assert str(back.dtype) == f"torch.{numpy.dtype(dtype).name}" and back.tolist() == Z
    assert torch.from_dlpack(z).tolist() == z.tolist()
    assert numpy.from_dlpack(z).tolist() == z.tolist()
    assert torch.tensor(numpy.complex128(1j)).dtype is torch.complex128


@pytest.mark.parametrize("lazy", [False, True])
def test_saved_and_copied(lazy):
    z = torch.tensor(Z).conj() if lazy else torch.tensor(Z)
    file = io.BytesIO()
    torch.save(z, file)
    file.seek(0)
    loaded = torch.load(file)
    assert loaded.tolist() == z.tolist() and loaded.is_conj() == lazy
    for other in (pickle.loads(pickle.dumps(z)), copy.copy(z), copy.deepcopy(z)):
        assert other.tolist() == z.tolist() and other.dtype is z.dtype


def test_random_numbers():
    torch.manual_seed(0)
    z = torch.randn(20_000, dtype=torch.complex128)
    assert abs(z.real.var().item() - 0.5) < 0.02 and abs(z.imag.var().item() - 0.5) < 0.02
    u = torch.rand(1000, dtype=torch.complex64)
    assert u.real.min() >= 0 and u.imag.max() < 1 and abs(u.imag.mean().item() - 0.5) < 0.05


# ---- parts and conjugates are views ----


def test_parts_share_memory():
    z = torch.tensor(Z)
    z.real[0] = 9
    z.imag = torch.tensor([7.0, 8.0])
    assert z.tolist() == [9 + 7j, 3 + 8j]
    torch.view_as_real(z)[1] = torch.tensor([4.0, 5.0])
    assert z[1].item() == 4 + 5j
    assert z.real.stride() == (2,) and z.imag.storage_offset() == 1
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    torch.view_as_complex(x).mul_(1j)
    assert x.tolist() == [[-2, 1], [-4, 3]]
    assert torch.ones(2).real.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="imag is not implemented for tensors with non-complex dtypes"):
        torch.ones(2).imag
    with pytest.raises(RuntimeError, match="last dimension with stride 1"):
        torch.view_as_complex(torch.ones(2, 3).t())


def test_conj_is_lazy():
    z = torch.tensor(Z)
    w = z.conj()
    assert w.is_conj() and w._is_view() and w.data_ptr() == z.data_ptr()
    assert w.tolist() == [1 - 2j, 3 + 1j]
    assert not w.conj().is_conj() and not w.resolve_conj().is_conj() and not w.clone().is_conj() and not (w + 1).is_conj()
    assert w[0].is_conj() and w.view(1, 2).is_conj() and w.detach().is_conj()
    assert not torch.empty_like(w).is_conj()
    assert w.imag.is_neg() and w.imag.tolist() == [-2, 1] and not w.real.is_neg()
    z.mul_(1j)
    assert w.tolist() == z.resolve_conj().conj_physical().tolist()
    assert torch.ones(2).conj().is_conj() is False
    with pytest.raises(RuntimeError, match="view_as_real doesn't work on unresolved conjugated tensors"):
        torch.view_as_real(w)
    with pytest.raises(RuntimeError, match="Can't call numpy\\(\\) on Tensor that has conjugate bit set"):
        w.numpy()


@pytest.mark.parametrize(
    "write",
    [
        lambda w: w.copy_(torch.tensor([5 + 6j, 7j])),
        lambda w: w.fill_(2 + 3j),
        lambda w: w.exp_(),
        lambda w: w.__setitem__(0, 1j),
        lambda w: w.add_(1 + 1j),
        lambda w: w.index_add_(0, torch.tensor([1]), torch.tensor([2j])),
        lambda w: w.masked_fill_(torch.tensor([True, False]), 3j),
        lambda w: w.real.add_(2),
        lambda w: w.imag.add_(2),
        lambda w: torch.mul(torch.tensor(Z), 2j, out=w),
    ],
)
def test_writes_through_a_conjugate(write):
    plain = torch.tensor([1 - 2j, 3 + 1j])
    write(plain)
    memory = torch.tensor(Z)
    lazy = memory.conj()
    write(lazy)
    torch.testing.assert_close(lazy.resolve_conj(), plain)
    torch.testing.assert_close(memory, plain.conj().resolve_conj())
    assert lazy.is_conj()


# ---- gradients: d/dre + i d/dim ----


def test_gradients_of_parts():
    z = leaf()
    z.real.sum().backward()
    z.imag.sum().backward()
    assert z.grad.tolist() == [1 + 1j, 1 + 1j]
    z.grad = None
    (z * z.conj()).real.sum().backward()
    assert z.grad.tolist() == [2 * v for v in Z]


def test_a_real_input_has_a_real_gradient():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * (1 + 2j)).abs().sum().backward()
    torch.testing.assert_close(x.grad, torch.full((2,), 5.0**0.5))
    y = torch.tensor([1.0], requires_grad=True)
    (y.to(torch.complex64) * 2j).imag.sum().backward()
    assert y.grad.tolist() == [2.0] and y.grad.dtype is torch.float32


def test_what_backward_refuses():
    z = leaf()
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for real scalar outputs but got torch.complex128"):
        z.sum().backward()
    with pytest.raises(RuntimeError, match="both grad_output and output are required to have the same dtype"):
        z.abs().sum().backward(torch.tensor(1j, dtype=torch.complex128))
    with pytest.raises(RuntimeError, match="both grad_output and output are required to have the same dtype"):
        z.sum().backward(torch.tensor(1.0, dtype=torch.float64))
    z.sum().backward(torch.tensor(1j, dtype=torch.complex128))
    assert z.grad.tolist() == [1j, 1j]

    class Turned(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1j

        @staticmethod
        def backward(ctx, grad):
            return grad * -1j

    x = torch.tensor([3.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="returned a complex gradient at index 0 for an input of dtype float32"):
        Turned.apply(x).abs().sum().backward()


@pytest.mark.parametrize(
    "write",
    [
        lambda y: y.real.mul_(3),
        lambda y: y.imag.mul_(2),
        lambda y: y.conj().mul_(1j),
        lambda y: y.conj().imag.add_(y.real),
        lambda y: y[1:].real.add_(5.0),
        lambda y: torch.view_as_real(y)[0].mul_(2),
        lambda y: y.conj()[0].copy_(y[1] * 1j),
    ],
)
def test_in_place_on_views_of_parts(write):
    def f(z):
        y = z * (2 - 1j)
        write(y)
        return y * y.conj().sin()

    assert torch.autograd.gradcheck(f, (leaf(),))
    assert torch.autograd.gradgradcheck(f, (leaf(),))


@pytest.mark.parametrize(
    "view", [lambda y: torch.view_as_real(y), lambda y: y.real, lambda y: y.conj(), lambda y: y.conj().imag, lambda y: y.imag[1:]]
)
def test_views_follow_writes_to_their_base(view):
    def f(z):
        y = z * 2
        v = view(y)
        y.mul_(1 + 1j)
        return v * v

    assert torch.autograd.gradcheck(f, (leaf(),))


@pytest.mark.parametrize("view", [lambda b: torch.view_as_complex(b), lambda b: torch.view_as_complex(b[1:])[0]])
def test_complex_views_of_real_tensors(view):
    def write(x):
        b = x * 1
        view(b).mul_(1 + 2j)
        return b

    def follow(x):
        b = x * 1
        v = view(b)
        b.mul_(2)
        return v * v

    x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(write, (x,)) and torch.autograd.gradcheck(follow, (x,))


def test_mixed_real_and_complex_inputs():
    z, x = leaf(), torch.tensor([0.3, 1.2], dtype=torch.float64, requires_grad=True)
    for f in (
        lambda z, x: z * x,
        lambda z, x: z**x,
        lambda z, x: x**z,
        lambda z, x: torch.where(torch.tensor([True, False]), z, x),
        lambda z, x: torch.addcmul(z, x, z, value=2j),
        lambda z, x: torch.complex(x, z.abs()),
        lambda z, x: torch.stack([z, x]).cumprod(0),
        lambda z, x: torch.polar(x, z.angle()),
        lambda z, x: (x / z, z / x, x - z),
    ):
        assert torch.autograd.gradcheck(f, (z, x), check_forward_ad=True, check_batched_grad=True)
        assert torch.autograd.gradgradcheck(f, (z, x))


def test_hooks_and_saved_tensors_see_plain_gradients():
    z, seen = leaf(), []
    y = z * z
    y.register_hook(lambda g: seen.append(g.resolve_conj().tolist()))
    y.abs().sum().backward()
    expected = (torch.tensor(Z, dtype=torch.complex128) ** 2).sgn()
    torch.testing.assert_close(torch.tensor(seen[0], dtype=torch.complex128), expected)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        w = leaf()
        (w.conj() * w).real.sum().backward()
    assert w.grad.tolist() == [2 * v for v in Z]


def test_custom_function():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, z):
            ctx.save_for_backward(z)
            return z * z

        @staticmethod
        def backward(ctx, grad):
            (z,) = ctx.saved_tensors
            return grad * 2 * z.conj()

        @staticmethod
        def jvp(ctx, t):
            return 2 * ctx.z * t

    assert torch.autograd.gradcheck(Square.apply, (leaf(),))


def test_transforms():
    z = torch.tensor(Z, dtype=torch.complex128)
    torch.testing.assert_close(torch.func.grad(lambda z: z.abs().sum())(z), z.sgn())
    _, pull = torch.func.vjp(lambda z: z * z, z)
    torch.testing.assert_close(pull(z)[0], z * 2 * z.conj())
    torch.testing.assert_close(torch.func.jvp(lambda z: z * z, (z,), (z,))[1], 2 * z * z)
    torch.testing.assert_close(torch.func.vmap(lambda z: z.conj() * z)(z), z.conj() * z)
    each = torch.func.vmap(torch.func.grad(lambda w, z: (w * z).abs()), in_dims=(None, 0))(torch.tensor(1.0, dtype=torch.float64), z)
    torch.testing.assert_close(each, z.abs())
    for jacobian in (torch.func.jacrev, torch.func.jacfwd):
        with pytest.raises(RuntimeError, match="Expected all inputs to be real"):
            jacobian(lambda z: z.abs())(z)
        with pytest.raises(RuntimeError, match="Expected all outputs to be real"):
            jacobian(lambda x: x * 1j)(torch.ones(2))


def test_checkpoint():
    from retrograd.utils.checkpoint import checkpoint

    z, w = leaf(), leaf()
    f = lambda q: (q * q.conj().exp()).abs()
    checkpoint(f, z, use_reentrant=False).sum().backward()
    f(w).sum().backward()
    assert z.grad.tolist() == w.grad.tolist()


# ---- training ----


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop"])
def test_optimizers_treat_a_complex_parameter_as_two_real_ones(name):
    options = {"SGD": {"momentum": 0.9, "nesterov": True}, "Adam": {"amsgrad": True, "weight_decay": 0.1}}.get(name, {})
    z = torch.nn.Parameter(torch.tensor(Z))
    x = torch.nn.Parameter(torch.view_as_real(z.detach().clone()).clone())
    first, second = (getattr(torch.optim, name)([p], lr=0.1, **options) for p in (z, x))
    for _ in range(4):
        for p, optimizer in ((z, first), (x, second)):
            optimizer.zero_grad()
            value = p if p.is_complex() else torch.view_as_complex(p)
            (value.abs().pow(2).sum() + value.real.sum() * 3).backward()
            optimizer.step()
    torch.testing.assert_close(torch.view_as_real(z.detach()), x.detach())


def test_lbfgs_and_clipping():
    z = torch.nn.Parameter(torch.tensor(Z))
    optimizer = torch.optim.LBFGS([z], lr=0.5, max_iter=30)

    def closure():
        optimizer.zero_grad()
        loss = (z - (2 + 1j)).abs().pow(2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    torch.testing.assert_close(z.detach(), torch.full((2,), 2 + 1j), atol=1e-3, rtol=0)
    z.grad = torch.tensor([3 + 0j, 4j])
    assert torch.nn.utils.clip_grad_norm_([z], 1.0).item() == 5.0
    torch.testing.assert_close(z.grad, torch.tensor([0.6 + 0j, 0.8j]), atol=1e-5, rtol=0)


def test_no_warning_on_the_way_back():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        (x.to(torch.complex64) * 1j + x).abs().sum().backward()


def test_writing_real_numbers_into_complex_ones_warns_of_nothing():
    """The gradient of what is real has no imaginary part to lose."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for write in (
            lambda c, r: c.copy_(r),
            lambda c, r: c.__setitem__(0, r[0]),
            lambda c, r: c.__setitem__(slice(0, 2), r),
            lambda c, r: c.fill_(r[0]),
            lambda c, r: c.add_(r),
            lambda c, r: c.index_copy_(0, torch.tensor([0, 1]), r.to(c.dtype)),
            lambda c, r: c.masked_fill_(torch.tensor([True, False]), r[0]),
        ):
            r = torch.tensor([1.0, 2.0], requires_grad=True)
            c = torch.zeros(2, dtype=torch.complex64)
            write(c, r)
            (c * (1 + 2j)).sum().abs().backward()
            assert r.grad.dtype == torch.float32
