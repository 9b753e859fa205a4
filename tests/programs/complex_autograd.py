"""Derivatives of complex tensors, by every way of asking for them."""


def gradient_of_the_real_part(torch, show):
    z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    z.real.sum().backward()
    show(z.grad)


def gradient_of_the_imaginary_part(torch, show):
    z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    z.imag.sum().backward()
    show(z.grad)


def a_write_to_the_real_part_of_a_result(torch, show):
    z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    y = z * 2
    y.real.mul_(3)
    (y * y.conj()).real.sum().backward()
    show(z.grad, y.grad_fn)


def a_write_to_a_conjugate(torch, show):
    z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    y = z * 2
    v = y.conj()
    v.mul_(1j)
    show(y, v.grad_fn, y.grad_fn)
    y.real.sum().backward()
    show(z.grad)


def a_view_of_pairs_follows_its_base(torch, show):
    z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    y = z * 2
    v = torch.view_as_real(y)
    y.mul_(1j)
    show(v, v.grad_fn)
    v.pow(2).sum().backward()
    show(z.grad)


def a_write_to_the_real_part_of_a_slice(torch, show):
    z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    y = z * 2
    v = y[1:].real
    v.add_(5.0)
    show(y)
    y.abs().sum().backward()
    show(z.grad)


def a_complex_view_of_a_real_tensor_is_written_to(torch, show):
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    b = a * 1
    c = torch.view_as_complex(b)
    c.mul_(1j)
    show(b)
    b.sum().backward()
    show(a.grad)


def a_complex_view_of_a_real_tensor_follows_its_base(torch, show):
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    b = a * 1
    c = torch.view_as_complex(b)
    b.mul_(2)
    show(c, c.grad_fn)
    c.abs().sum().backward()
    show(a.grad)


def a_real_leaf_times_a_complex_number(torch, show):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * (1 + 2j)).sum()
    show(y.dtype)
    y.abs().backward()
    show(x.grad, x.grad.dtype)


def real_and_complex_leaves_together(torch, show):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    z = torch.tensor([1j, 2.0], requires_grad=True)
    (x * z).abs().sum().backward()
    show(x.grad, z.grad)


def a_real_leaf_converted(torch, show):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.to(torch.complex64)
    show(y.grad_fn)
    (y * 1j).real.sum().backward()
    show(x.grad)


def a_complex_leaf_converted(torch, show):
    z = torch.tensor([1 + 2j], requires_grad=True)
    z.to(torch.complex128).abs().sum().backward()
    show(z.grad, z.grad.dtype)


def no_gradient_given_for_a_complex_root(torch, attempt):
    z = torch.tensor([1 + 2j], requires_grad=True)
    attempt(lambda: z.sum().backward())


def a_complex_gradient_given(torch, show):
    z = torch.tensor([1 + 2j], requires_grad=True)
    z.sum().backward(torch.tensor(1j))
    show(z.grad)


def a_real_gradient_for_a_complex_root(torch, show):
    z = torch.tensor([1 + 2j], requires_grad=True)
    z.sum().backward(torch.tensor(1.0))
    show(z.grad)


def a_complex_gradient_for_a_real_root(torch, show):
    z = torch.tensor([1 + 2j], requires_grad=True)
    z.abs().sum().backward(torch.tensor(1j))
    show(z.grad)


def grad_of_a_complex_output(torch, show):
    z = torch.tensor([1 + 2j], requires_grad=True)
    show(torch.autograd.grad(z * z, z, torch.tensor([1j]), create_graph=True))


def second_derivative_of_a_modulus(torch, show):
    z = torch.tensor([1 + 2j], requires_grad=True)
    (g,) = torch.autograd.grad((z * z * z).abs().sum(), z, create_graph=True)
    g.abs().sum().backward()
    show(z.grad)


def a_hook_sees_and_changes_a_complex_gradient(torch, show):
    z = torch.tensor([1 + 2j], requires_grad=True)
    h = []
    y = z * z
    y.register_hook(lambda g: h.append(g.clone()) or g * 1j)
    y.abs().sum().backward()
    show(h, z.grad)


def accumulating_complex_gradients(torch, show):
    z = torch.tensor([1 + 2j], requires_grad=True)
    z.grad = torch.ones(1, dtype=torch.complex64) * 1j
    z.abs().sum().backward()
    show(z.grad)


def a_custom_function(torch, show):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, z):
            ctx.save_for_backward(z)
            return z.abs()

        @staticmethod
        def backward(ctx, g):
            (z,) = ctx.saved_tensors
            return g * z.sgn()

    z = torch.tensor([3 + 4j], requires_grad=True)
    F.apply(z).sum().backward()
    show(z.grad)


def a_leaf_that_retains_its_gradient(torch, show):
    z = torch.tensor([1j])
    z.requires_grad_()
    z.retain_grad()
    (z * 1).abs().sum().backward()
    show(z.grad)


def names_of_nodes(torch, show):
    z = torch.tensor([1 + 2j], requires_grad=True)
    y = z.abs()
    show(y.grad_fn, y.grad_fn._saved_self)
    show(
        (z * z).grad_fn,
        z.real.grad_fn,
        z.imag.grad_fn,
        z.conj().grad_fn,
        torch.view_as_real(z).grad_fn,
        z.conj().imag.grad_fn,
        z.conj_physical().grad_fn,
        z.angle().grad_fn,
        z.sgn().grad_fn,
    )


def names_of_nodes_that_make_complex_tensors(torch, show):
    x = torch.tensor([1.0], requires_grad=True)
    show(torch.complex(x, x).grad_fn, torch.polar(x, x).grad_fn, torch.view_as_complex(torch.ones(1, 2, requires_grad=True)).grad_fn)


def saved_tensor_hooks(torch, show):
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x.clone(), lambda x: x):
        z = torch.tensor([1 + 2j], requires_grad=True)
        (z.conj() * z).real.sum().backward()
        show(z.grad)


def inference_mode(torch, show):
    with torch.inference_mode():
        z = torch.tensor([1j])
        show(z.conj().is_inference(), z.conj().is_conj())


def gradcheck_of_complex(torch, show):
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    show(torch.autograd.gradcheck(lambda x: torch.complex(x, x * 2).exp(), (x,)))


def gradcheck_of_views(torch, show):
    z = torch.randn(2, 2, dtype=torch.cdouble, requires_grad=True)
    show(torch.autograd.gradcheck(lambda a: a.expand(3, 2, 2).permute(1, 2, 0).reshape(-1)[::2], (z,)))


def gradgradcheck_of_products(torch, show):
    z = torch.randn(2, 3, dtype=torch.cdouble, requires_grad=True)
    show(torch.autograd.gradgradcheck(lambda a: a.cumprod(1).prod(0) / a.sum(), (z,)))
