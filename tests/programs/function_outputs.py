"""Custom Functions: what forward returns."""

import collections

from tests.programs import told


def returning_an_input(torch, Function, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 3

    x = leaf(1.0, 2.0)
    y = F.apply(x)
    show(y, y is x, y._is_view(), y._base is x)
    y.sum().backward()
    show(x.grad)
    z = x * 1
    w = F.apply(z)
    show(w, w is z, w._is_view())
    attempt(lambda: w.mul_(2))
    with torch.no_grad():
        u = F.apply(x)
        show(u, u is x)


def returning_an_input_without_grad(torch, Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x, y

        @staticmethod
        def backward(ctx, g, h):
            return g * 3, h

    x, y = leaf(1.0), torch.tensor(2.0)
    a, b = F.apply(x, y)
    show(a, b, b is y, b._is_view())
    c, d = F.apply(y, y)
    show(c, c is y, c is d, c._is_view())


def returning_an_input_twice(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x, x

        @staticmethod
        def backward(ctx, g, h):
            show(g, h)
            return g + h

    x = leaf(1.0)
    a, b = F.apply(x)
    show(a, b, a is b)
    (a * 2 + b * 3).backward()
    show(x.grad)


def returning_the_same_new_tensor_twice(Function, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            return y, y

        @staticmethod
        def backward(ctx, g, h):
            show(g, h)
            return g + h

    x = leaf(1.0)
    attempt(lambda: F.apply(x))
    a, b = F.apply(x)
    show(a is b, a.output_nr, b.output_nr)
    (a * 2 + b * 3).backward()
    show(x.grad)


def returning_a_view_of_an_input(torch, Function, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(-1)

        @staticmethod
        def backward(ctx, g):
            return g.view(2, 1)

    x = torch.ones(2, 1, requires_grad=True)
    y = F.apply(x)
    show(y, y._is_view(), y._base is x)
    attempt(lambda: y.mul_(2))
    z = x.clone()
    y = F.apply(z)
    attempt(lambda: y.mul_(2))


def returning_views_as_one_of_several_outputs(torch, Function, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(-1), x * 2

        @staticmethod
        def backward(ctx, g, h):
            return g.view(2, 1) + h * 2

    x = torch.ones(2, 1, requires_grad=True)
    y, z = F.apply(x.clone())
    attempt(lambda: y.mul_(2))
    attempt(lambda: z.mul_(2))


def outputs_that_are_no_tensors(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, None, 5, "five", [x], {"a": x}

        @staticmethod
        def backward(ctx, *g):
            show(g)
            return g[0]

    x = leaf(1.0)
    out = F.apply(x)
    show(out)
    out[0].backward()


def one_output_that_is_no_tensor(Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x, what):
            return what

        @staticmethod
        def backward(ctx, g):
            return g, None

    for what in (None, 5, "a", [], (), {}):
        attempt(lambda: F.apply(leaf(1.0), what))


def a_list_of_outputs(Function, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return [x * 2, x * 3]

        @staticmethod
        def backward(ctx, *g):
            show(g)
            return g[0]

    x = leaf(1.0)
    attempt(lambda: F.apply(x))


def a_named_tuple_of_outputs(Function, leaf, show):
    P = collections.namedtuple("P", "a b")

    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return P(x * 2, x * 3)

        @staticmethod
        def backward(ctx, g, h):
            return g + h

    out = F.apply(leaf(1.0))
    show(type(out), out)


def integer_outputs(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x.long(), x > 0, x * 2

        @staticmethod
        def backward(ctx, a, b, c):
            show(a, b, c)
            return c

    x = leaf(1.0)
    a, b, c = F.apply(x)
    show(a, b, c)
    c.backward()


def integer_inputs(torch, Function, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x, i):
            show(ctx.needs_input_grad)
            return x * i

        @staticmethod
        def backward(ctx, g):
            return g, g

    x = leaf(1.0)
    y = F.apply(x, torch.tensor(3))
    show(y.grad_fn.next_functions)
    attempt(lambda: y.backward())
    show(x.grad)


@told("custom_function_wrong_gradient", why="a gradient that is easy to tell apart")
def gradient_of_views_made_in_forward(torch, Function, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x[:1], x[1:]

        @staticmethod
        def backward(ctx, a, b):
            return torch.cat([a, b]) * 2

    x = leaf(1.0, 2.0)
    a, b = F.apply(x)
    show(a, b, a._is_view(), b._is_view())
    attempt(lambda: a.add_(1))


def output_that_requires_grad_inside_forward(torch, Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return torch.zeros(2, requires_grad=True)

        @staticmethod
        def backward(ctx, g):
            return g

    x = leaf(1.0, 2.0)
    y = F.apply(x)
    show(y, y.is_leaf)
    y = F.apply(torch.ones(2))
    show(y, y.is_leaf)


def returning_another_leaf(torch, Function, leaf, show, attempt):
    other = torch.zeros(2, requires_grad=True)

    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return other

        @staticmethod
        def backward(ctx, g):
            return g * 5

    x = leaf(1.0, 2.0)
    y = F.apply(x)
    show(y is other, y)
    attempt(lambda: y.sum().backward())
    show(x.grad)


def detach_of_outputs(Function, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x.detach()

        @staticmethod
        def backward(ctx, g):
            return g * 5

    x = leaf(1.0, 2.0)
    y = F.apply(x)
    show(y, y._is_view())
    attempt(lambda: y.add_(1))


def in_place_of_a_function_output(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            show("backward", g)
            return g * 2

    x = leaf(1.0, 2.0)
    y = F.apply(x)
    y.mul_(3)
    show(y)
    y[0] = 7.0
    show(y)
    y.sum().backward()
    show(x.grad)


def two_outputs_one_used_twice(autograd, Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            show(a, b)
            return a * 2 + b * 3

    x = leaf(1.0)
    a, b = F.apply(x)
    (a * a + a).backward(retain_graph=True)
    show(x.grad)
    autograd.backward([a, b])
    show(x.grad)


def only_one_output_of_two_asked_for(autograd, Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            show(a, b)
            return a * 2 + b * 3

    x = leaf(1.0)
    a, b = F.apply(x)
    show(autograd.grad(b, a, allow_unused=True, retain_graph=True))
    show(autograd.grad(b, [a, x], allow_unused=True, retain_graph=True))


def empty_outputs_and_inputs(torch, Function, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            show(tuple(g.shape))
            return g * 2

    x = torch.ones(0, 3, requires_grad=True)
    y = F.apply(x)
    y.sum().backward()
    show(x.grad, tuple(x.grad.shape))


def no_outputs(torch, Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return ()

        @staticmethod
        def backward(ctx):
            return torch.ones(())

    x = leaf(1.0)
    show(F.apply(x))
