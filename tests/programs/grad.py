"""autograd.grad(): arguments, unused inputs, batched gradients, derivatives of derivatives."""

from tests.programs import own


def grad(torch, autograd, leaf, show, attempt):
    x, y = leaf(2.0), leaf(3.0)
    z = x * x * y
    show(autograd.grad(z, x, retain_graph=True))
    show(autograd.grad(z, (x, y), retain_graph=True))
    show(autograd.grad([z], [x, y], [torch.tensor(2.0)], retain_graph=True))
    show(autograd.grad((z, z), x, retain_graph=True))
    show(type(autograd.grad(z, [x], retain_graph=True)))
    show(autograd.grad(outputs=z, inputs=x, grad_outputs=torch.tensor(2.0)))
    attempt(lambda: autograd.grad(z, x))


def grad_of_unused_inputs(autograd, leaf, attempt):
    x, y = leaf(2.0), leaf(3.0)
    attempt(lambda: autograd.grad(x * 2, y))
    attempt(lambda: autograd.grad(x * 2, [x, y]))
    attempt(lambda: autograd.grad(x * 2, [x, y], allow_unused=True))
    attempt(lambda: autograd.grad(x * 2, [x, y], allow_unused=False))
    attempt(lambda: autograd.grad(x * 2, [x, y], materialize_grads=True))
    attempt(lambda: autograd.grad(x * 2, [x, y], materialize_grads=True, create_graph=True))
    attempt(lambda: autograd.grad(x * 2, [x, y], materialize_grads=True, allow_unused=True))
    attempt(lambda: autograd.grad(x * 2, [x, y], materialize_grads=True, allow_unused=False))


def grad_arguments(torch, autograd, leaf, attempt):
    x = leaf(2.0)
    attempt(lambda: autograd.grad(x * 2, []))
    attempt(lambda: autograd.grad(x * 2, ()))
    attempt(lambda: autograd.grad([], x))
    attempt(lambda: autograd.grad(x * 2, 3))
    attempt(lambda: autograd.grad(x * 2, [3]))
    attempt(lambda: autograd.grad(3, x))
    attempt(lambda: autograd.grad([3], x))
    attempt(lambda: autograd.grad(x * 2, None))
    attempt(lambda: autograd.grad(x * 2, [None]))
    attempt(lambda: autograd.grad(x * 2, x, only_inputs=False))
    attempt(lambda: autograd.grad((x * 2, x * 3), x, (torch.ones(()),)))
    attempt(lambda: autograd.grad((x * 2, x * 3), x, torch.ones(())))
    attempt(lambda: autograd.grad(x * 2))


def generators_as_arguments(autograd, leaf, attempt):
    x, y = leaf(2.0), leaf(3.0)
    attempt(lambda: autograd.grad((t * 2 for t in (x, y)), (t for t in (x, y))))
    attempt(lambda: autograd.backward(t * 2 for t in (x, y)))


def grad_outputs_of_wrong_shape(torch, autograd, leaf, attempt):
    x = leaf(1.0, 2.0)
    attempt(lambda: autograd.grad(x * 2, x))
    attempt(lambda: autograd.grad(x * 2, x, torch.ones(3)))
    attempt(lambda: autograd.grad(x * 2, x, torch.ones(2, 2)))
    attempt(lambda: autograd.grad((x * 2, x.sum()), x, (torch.ones(2), None)))


def is_grads_batched(torch, autograd, leaf, show, attempt):
    x = leaf(1.0, 2.0)
    show(autograd.grad(x * x, x, torch.eye(2), is_grads_batched=True))
    attempt(lambda: autograd.grad(x * x, x, torch.ones(2), is_grads_batched=True))
    attempt(lambda: autograd.grad(x * x, x, torch.ones(3, 3), is_grads_batched=True))
    attempt(lambda: autograd.grad((x * x).sum(), x, torch.ones(3), is_grads_batched=True))
    attempt(lambda: autograd.grad((x * x).sum(), x, is_grads_batched=True))
    attempt(lambda: autograd.grad((x * x, x * 2), x, (torch.ones(3, 2), torch.ones(4, 2)), is_grads_batched=True))
    attempt(lambda: autograd.grad((x * x, x * 2), x, (torch.ones(3, 2), torch.ones(3, 2)), is_grads_batched=True))
    y = leaf(3.0)
    attempt(lambda: autograd.grad(x * x, (x, y), torch.eye(2), is_grads_batched=True, allow_unused=True))
    attempt(lambda: autograd.grad(x * x, (x, y), torch.eye(2), is_grads_batched=True, materialize_grads=True))
    attempt(lambda: autograd.grad(x * x, (x, y), torch.eye(2), is_grads_batched=True))


def grad_leaves_the_attribute_alone(autograd, leaf, show):
    x, y = leaf(2.0), leaf(3.0)
    autograd.grad(x * y, x)
    show(x.grad, y.grad)


def grad_of_grad(autograd, leaf, show):
    x = leaf(2.0)
    (g,) = autograd.grad(x**3, x, create_graph=True)
    show(g.requires_grad, g.is_leaf, g.detach())
    (h,) = autograd.grad(g, x, create_graph=True)
    show(h.requires_grad, h.detach())
    (i,) = autograd.grad(h, x)
    show(i)


def create_graph_accumulates(leaf, show):
    x = leaf(2.0)
    (x**2).backward(create_graph=True)
    a = x.grad
    show(a.requires_grad, a.detach())
    (x**2).backward(create_graph=True)
    show(x.grad, x.grad is a, a.detach())


def create_graph_of_an_inner_gradient(autograd, leaf, show):
    x = leaf(2.0)
    y = x**2
    z = y**2
    (gy,) = autograd.grad(z, y, create_graph=True)
    show(gy.detach())
    show(autograd.grad(gy, x))


def grad_with_respect_to_a_gradient(autograd, leaf, show):
    x, v = leaf(2.0), leaf(1.0)
    (g,) = autograd.grad(x**3, x, v, create_graph=True)
    show(autograd.grad(g, v))


def hessian_vector_products_by_double_backward(torch, autograd, leaf, show):
    x = leaf(1.0, 2.0)
    y = (x**3).sum()
    (g,) = autograd.grad(y, x, create_graph=True)
    v = torch.tensor([1.0, 1.0])
    show(autograd.grad(g, x, v))


def autograd_grad_with_a_dict_of_inputs(torch, x3, show):
    a = x3.clone().requires_grad_()
    show(torch.autograd.grad((a**2).sum(), {"a": a}))


def autograd_grad_batched(torch, f64, x3, show):
    a = x3.clone().requires_grad_()
    show(torch.autograd.grad(a**2, a, torch.eye(3, dtype=f64), is_grads_batched=True))


def autograd_grad_batched_with_the_wrong_shape(torch, f64, x3):
    a = x3.clone().requires_grad_()
    torch.autograd.grad(a**2, a, torch.ones(3, dtype=f64), is_grads_batched=True)


@own("nodes")
def autograd_grad_batched_with_create_graph(torch, f64, x3, show):
    a = x3.clone().requires_grad_()
    show(torch.autograd.grad(a**2, a, torch.eye(3, dtype=f64), is_grads_batched=True, create_graph=True))


def autograd_grad_batched_with_a_function(torch, f64, x3, show):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    a = x3.clone().requires_grad_()
    show(torch.autograd.grad(Double.apply(a), a, torch.eye(3, dtype=f64), is_grads_batched=True))


def autograd_grad_materialize_grads(torch, x3, show):
    a, b = x3.clone().requires_grad_(), x3.clone().requires_grad_()
    show(torch.autograd.grad((a**2).sum(), (a, b), materialize_grads=True))


def autograd_grad_materialize_grads_and_allow_unused(torch, x3):
    a, b = x3.clone().requires_grad_(), x3.clone().requires_grad_()
    torch.autograd.grad((a**2).sum(), (a, b), materialize_grads=True, allow_unused=False)
