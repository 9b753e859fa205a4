"""Custom Functions: mark_dirty and mark_non_differentiable."""


def mark_non_differentiable(Function, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            a, b = x * 2, x * 3
            ctx.mark_non_differentiable(b)
            return a, b

        @staticmethod
        def backward(ctx, ga, gb):
            show(ga, gb)
            return ga * 2

    x = leaf(1.0, 2.0)
    a, b = F.apply(x)
    show(a, b, b.is_leaf)
    a.sum().backward()
    attempt(lambda: b.sum().backward())


def mark_non_differentiable_of_other_things(torch, Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x, what):
            ctx.mark_non_differentiable(what)
            return x * 2

    for what in (None, 1, "a", torch.ones(1)):
        attempt(lambda: F.apply(leaf(1.0), what))


def mark_dirty_of_other_things(torch, Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x, what):
            ctx.mark_dirty(what)
            return x * 2

    for what in (None, 1, "a", torch.ones(1)):
        attempt(lambda: F.apply(leaf(1.0), what))


def mark_non_differentiable_of_an_input(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_non_differentiable(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    x = leaf(1.0, 2.0)
    a = F.apply(x)
    show(a, a.is_leaf, a is x, a._is_view())
    show(x)
    y = x * 2
    b = F.apply(y)
    show(b, b.is_leaf, b is y, b._is_view())


def mark_dirty(torch, Function, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(1.0, 2.0)
    y = x.clone()
    z = F.apply(y)
    show(z is y, y, y._version)
    z.sum().backward()
    show(x.grad)
    attempt(lambda: F.apply(x))
    attempt(lambda: F.apply(x[0]))
    with torch.no_grad():
        attempt(lambda: F.apply(x))


def mark_dirty_not_returned(torch, Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(1.0, 2.0)
    attempt(lambda: F.apply(x.clone()))
    with torch.no_grad():
        attempt(lambda: F.apply(x.clone()))
    attempt(lambda: F.apply(torch.ones(2)))


def mark_dirty_of_a_view(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(1.0, 2.0)
    y = x.clone()
    v = y[:1]
    z = F.apply(v)
    show(z is v, z, y)
    y.sum().backward()
    show(x.grad)


def mark_dirty_of_a_view_among_more_outputs(Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x, x * 2

        @staticmethod
        def backward(ctx, g, h):
            return g * 2

    x = leaf(1.0, 2.0)
    attempt(lambda: F.apply(x.clone()[:1]))


def a_tensor_marked_dirty_that_is_no_input(Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.mark_dirty(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(1.0, 2.0)
    attempt(lambda: F.apply(x))


def a_dirty_tensor_with_hooks_and_retain_grad(Function, leaf, show):
    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(1.0)
    y = x * 3
    y.register_hook(lambda g: show("before", g))
    y.retain_grad()
    Twice.apply(y)
    y.register_hook(lambda g: show("after", g))
    (y * 5).backward()
    show(y.grad, x.grad, y.retains_grad)


def a_dirty_input_without_grad_joins_the_graph(torch, Function, leaf, show):
    class Add(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.mark_dirty(x)
            return x.add_(y)

        @staticmethod
        def backward(ctx, g):
            show(ctx.needs_input_grad)
            return g, g * 2

    a, b = torch.tensor(1.0), leaf(2.0)
    out = Add.apply(a, b)
    show(out is a, a, a.requires_grad)
    a.backward()
    show(b.grad)


def dirty_and_returned_among_others(Function, leaf, show):
    class Swap(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.mark_dirty(x)
            return y * 2, x.mul_(3)

        @staticmethod
        def backward(ctx, g, h):
            show(g, h)
            return h * 3, g * 2

    x, y = leaf(1.0), leaf(2.0)
    z = x * 1
    a, b = Swap.apply(z, y)
    show(b is z, a, b, b.output_nr)
    (a * b).backward()
    show(x.grad, y.grad)


def two_dirty_inputs(Function, leaf, show):
    class Both(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.mark_dirty(x, y)
            return x.mul_(2), y.mul_(3)

        @staticmethod
        def backward(ctx, g, h):
            return g * 2, h * 3

    x = leaf(1.0, 2.0)
    a, b = x * 1, x * 1
    c, d = Both.apply(a, b)
    show(c is a, d is b, a, b)
    (a * b).sum().backward()
    show(x.grad)


def mark_dirty_called_twice(Function, leaf, show, attempt):
    class Both(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.mark_dirty(x)
            ctx.mark_dirty(y)
            return x.mul_(2), y.mul_(3)

        @staticmethod
        def backward(ctx, g, h):
            return g * 2, h * 3

    x = leaf(1.0, 2.0)
    a, b = x * 1, x * 1
    attempt(lambda: Both.apply(a, b))
    show(a, b)


def a_write_without_mark_dirty(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(1.0, 2.0)
    y = x * 1
    z = F.apply(y)
    show(z is y, y, z, y._version)
