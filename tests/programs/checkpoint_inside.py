"""checkpoint around and inside other things: itself, modes, contexts, writes, hooks, Functions."""

import functools

from tests.programs import differs, told


@told("checkpoint_side_effects", why="the blocks note each run")
def nested(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    count = []
    inner = lambda x: count.append("i") or x.sin().exp()
    outer = lambda x: count.append("o") or checkpoint(inner, x.cos(), use_reentrant=False) * x
    checkpoint(outer, a, use_reentrant=False).sum().backward()
    show(a.grad, count)


def nested_three_deep(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    f = lambda x: x.sin().exp()
    for _ in range(3):
        f = functools.partial(checkpoint, f, use_reentrant=False)
    f(a).sum().backward()
    show(a.grad)


def nested_reentrant_in_non_reentrant(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    f = functools.partial(checkpoint, lambda x: x.sin().exp(), use_reentrant=True)
    checkpoint(f, a, use_reentrant=False).sum().backward()
    show(a.grad)


def nested_non_reentrant_in_reentrant(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    f = functools.partial(checkpoint, lambda x: x.sin().exp(), use_reentrant=False)
    checkpoint(f, a, use_reentrant=True).sum().backward()
    show(a.grad)


def under_no_grad(torch, checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    with torch.no_grad():
        show(checkpoint(lambda x: x.sin(), a, use_reentrant=False))
        show(checkpoint(lambda x: x.sin(), a, use_reentrant=True))


def no_grad_inside(torch, checkpoint, x3, show):
    a = x3.clone().requires_grad_()

    def f(x):
        with torch.no_grad():
            y = x.sin()
        return y * x

    checkpoint(f, a, use_reentrant=False).sum().backward()
    show(a.grad)


def context_fn(checkpoint, x3, show):
    log = []

    class Log:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            log.append("+" + self.name)

        def __exit__(self, *args):
            log.append("-" + self.name)

    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x.sin(), a, use_reentrant=False, context_fn=lambda: (Log("f"), Log("r")))
    show(log)
    y.sum().backward()
    show(log)


def context_fn_under_no_grad(torch, checkpoint, x3, show):
    log = []
    with torch.no_grad():
        checkpoint(lambda x: x.sin(), x3, use_reentrant=False, context_fn=lambda: log.append(1))
    show(log)


def context_fn_that_returns_one(checkpointing, checkpoint, x3):
    checkpoint(
        lambda x: x.sin(), x3.clone().requires_grad_(), use_reentrant=False, context_fn=lambda: (checkpointing.noop_context_fn()[0],)
    )


def in_place_on_an_input(checkpoint, x3):
    a = x3.clone().requires_grad_()
    b = a * 1
    y = checkpoint(lambda x: x.sin().exp(), b, use_reentrant=False)
    b.mul_(2)
    y.sum().backward()


def in_place_inside(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    checkpoint(lambda x: x.clone().mul_(x).sin(), a, use_reentrant=False).sum().backward()
    show(a.grad)


def in_place_on_a_saved_tensor_inside(checkpoint, x3, show):
    a = x3.clone().requires_grad_()

    def f(x):
        y = x.exp()
        z = y * 1
        y.mul_(2)
        return z + y

    checkpoint(f, a, use_reentrant=False).sum().backward()
    show(a.grad)


def in_place_on_the_output(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x.exp(), a, use_reentrant=False)
    y.mul_(2)
    y.sum().backward()
    show(a.grad)


def hooks_on_a_tensor_inside(checkpoint, x3, show):
    log = []

    def f(x):
        y = x.sin()
        y.register_hook(lambda g: log.append(g.sum()) or g * 2)
        return y.exp()

    a = x3.clone().requires_grad_()
    checkpoint(f, a, use_reentrant=False).sum().backward()
    show(a.grad, len(log))


def hooks_on_a_tensor_inside_reentrant(checkpoint, x3, show):
    log = []

    def f(x):
        y = x.sin()
        y.register_hook(lambda g: log.append(g.sum()) or g * 2)
        return y.exp()

    a = x3.clone().requires_grad_()
    checkpoint(f, a, use_reentrant=True).sum().backward()
    show(a.grad, len(log))


def a_custom_function_inside(torch, checkpoint, x3, show):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    a = x3.clone().requires_grad_()
    checkpoint(lambda x: Square.apply(x.sin()), a, use_reentrant=False).sum().backward()
    show(a.grad)


@differs("works")
def a_custom_function_that_unpacks_twice(torch, checkpoint, x3, show):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            (x,) = ctx.saved_tensors
            return 2 * x * g

    a = x3.clone().requires_grad_()
    checkpoint(lambda x: Square.apply(x.sin()), a, use_reentrant=False).sum().backward()
    show(a.grad)


def a_module(torch, nn, checkpoint, x3, show):
    m = nn.Sequential(nn.Linear(3, 3), nn.Tanh()).double()
    with torch.no_grad():
        for p in m.parameters():
            p.fill_(0.5)
    a = x3.clone().requires_grad_()
    checkpoint(m, a, use_reentrant=False).sum().backward()
    show(a.grad, m[0].weight.grad)


def saved_tensor_hooks_inside(torch, checkpoint, x3, show):
    a = x3.clone().requires_grad_()

    def f(x):
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t):
            return x.sin().exp()

    checkpoint(f, a, use_reentrant=False).sum().backward()
    show(a.grad)


def saved_tensor_hooks_outside(torch, checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    log = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: log.append("p") or t, lambda t: log.append("u") or t):
        y = checkpoint(lambda x: x.sin().exp(), a, use_reentrant=False)
    y.sum().backward()
    show(a.grad)


def disabled_saved_tensor_hooks(torch, checkpoint, x3):
    with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
        checkpoint(lambda x: x.sin(), x3.clone().requires_grad_(), use_reentrant=False)


def backward_inside_a_checkpoint(checkpoint, x3, show):
    a = x3.clone().requires_grad_()

    def f(x):
        y = x.detach().requires_grad_()
        (y**2).sum().backward()
        return x * y.grad

    checkpoint(f, a, use_reentrant=False).sum().backward()
    show(a.grad)


def autograd_grad_inside_a_checkpoint(torch, checkpoint, x3, show):
    a = x3.clone().requires_grad_()

    def f(x):
        (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
        return g.sin()

    checkpoint(f, a, use_reentrant=False).sum().backward()
    show(a.grad)


def a_view_as_output(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x.sin()[1:], a, use_reentrant=False)
    y.sum().backward()
    show(a.grad)


def a_matrix_product_inside(torch, checkpoint, show):
    a = torch.ones(2, 2, requires_grad=True)
    y = checkpoint(lambda x: x @ x, a, use_reentrant=False)
    y.sum().backward()
    show(a.grad)


def the_node(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x.sin(), a, use_reentrant=False)
    show(type(y.grad_fn).__name__)


def the_node_reentrant(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x.sin(), a, use_reentrant=True)
    show(type(y.grad_fn).__name__)


def looking_at_saved_tensors_outside_backward(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x.sin(), a, use_reentrant=False)
    show(y.grad_fn._saved_self)
