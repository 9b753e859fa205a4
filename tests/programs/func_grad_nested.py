"""func.grad beside itself, grad modes, tracked tensors, writes and hooks."""

from tests.programs import differs, own


def grad_of_grad(torch, grad, show):
    show(grad(grad(lambda x: x**3))(torch.tensor(2.0)))


def grad_of_grad_of_grad(torch, grad, show):
    show(grad(grad(grad(lambda x: x**4)))(torch.tensor(2.0)))


def grad_under_no_grad(torch, grad, x3, show):
    with torch.no_grad():
        show(grad(lambda x: (x**2).sum())(x3))


def no_grad_inside_grad(torch, grad, x3, show):
    def f(x):
        with torch.no_grad():
            y = x * 2
        return (x * y).sum()

    show(grad(f)(x3))


def grad_of_grad_with_no_grad_between(torch, grad, x3, show):
    def f(x):
        with torch.no_grad():
            shift = grad(lambda y: (y**3).sum())(x)
        return (x * shift).sum()

    show(grad(f)(x3))


def inference_mode_around_grad(torch, grad, x3, show):
    with torch.inference_mode():
        show(grad(lambda x: (x**2).sum())(x3))


@own("nodes")
def grad_of_a_tracked_input(grad, x3, show):
    a = x3.clone().requires_grad_()
    g = grad(lambda x: (x**3).sum())(a)
    show(g)
    g.sum().backward()
    show(a.grad)


def grad_with_a_tracked_constant(grad, x3, show):
    w = x3.clone().requires_grad_()
    g = grad(lambda x: (x * w).sum())(x3)
    show(g)
    g.sum().backward()
    show(w.grad)


def value_with_a_tracked_constant(grad_and_value, x3, show):
    w = x3.clone().requires_grad_()
    g, v = grad_and_value(lambda x: (x * w).sum())(x3)
    show(g, v)


def detach_inside_grad(grad, x3, show):
    show(grad(lambda x: (x.detach() * x).sum())(x3))


def in_place_inside_grad(grad, x3, show):
    def f(x):
        y = x.clone()
        y.mul_(x)
        return y.sum()

    show(grad(f)(x3))


def in_place_on_the_argument_of_grad(grad, x3, show):
    show(grad(lambda x: x.mul_(2).sum())(x3.clone()))


def in_place_on_the_argument_of_grad_what_is_left(grad, x3, show):
    a = x3.clone()
    grad(lambda x: x.mul_(2).sum())(a)
    show(a)


def in_place_on_a_tensor_outside_inside_grad(torch, grad, f64, x3, show):
    y = torch.zeros(3, dtype=f64)

    def f(x):
        y.add_(x)
        return y.sum()

    grad(f)(x3)
    show(y)


def copy_to_a_tensor_outside_inside_grad(torch, grad, f64, x3, show):
    y = torch.zeros(3, dtype=f64)

    def f(x):
        y.copy_(x)
        return (x * 2).sum()

    grad(f)(x3)
    show(y)


def in_place_on_a_tensor_outside_with_values_outside_inside_grad(torch, grad, f64, x3, show):
    y = torch.zeros(3, dtype=f64)

    def f(x):
        y.add_(1)
        return (x * y).sum()

    show(grad(f)(x3))
    show(y)


@differs("keeps its history")
def a_tensor_that_escapes_from_grad(grad, x3, show):
    kept = []
    grad(lambda x: kept.append(x * 2) or x.sum())(x3)
    show(kept[0] + 1, kept[0])


@differs("works")
def saved_tensors_hooks_inside_grad(torch, grad, x3, show):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        show(grad(lambda x: (x**2).sum())(x3))


def disable_saved_tensors_hooks_inside_grad(torch, grad, x3, show):
    with torch.autograd.graph.disable_saved_tensors_hooks("no"):
        show(grad(lambda x: (x**2).sum())(x3))


def register_hook_inside_grad(grad, x3, show):
    def f(x):
        y = x * 2
        y.register_hook(lambda g: g * 10)
        return (y * x).sum()

    show(grad(f)(x3))


def retain_grad_inside_grad(grad, x3, show):
    def f(x):
        y = x * 2
        y.retain_grad()
        return (y * x).sum()

    show(grad(f)(x3))


def grad_attribute_inside_grad(grad, x3, show):
    seen = []
    grad(lambda x: seen.append(x.grad is None) or x.sum())(x3)
    show(seen)
