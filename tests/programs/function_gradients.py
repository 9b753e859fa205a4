"""Custom Functions: what backward gets and returns, double backward included."""

from tests.programs import told


@told("custom_function_wrong_gradient", why="the gradients are given")
def wrong_number_of_gradients(torch, Function, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x, y, grads):
            ctx.grads = grads
            return x * y

        @staticmethod
        def backward(ctx, g):
            return ctx.grads

    x, y = leaf(1.0), leaf(2.0)
    one = torch.ones(())
    for grads in (
        (one,),
        (one, one, None),
        (one, one, one),
        (one, one, None, None),
        (one, one, None, one),
        (),
        None,
        one,
        [one, one, None],
        (None, None, None),
        (one, None, None),
        (one, 3, None),
        (one, "a", None),
        (one, True, None),
    ):
        x.grad = y.grad = None
        attempt(lambda: F.apply(x, y, grads).backward(), len(grads) if isinstance(grads, (tuple, list)) else type(grads))
        show(x.grad, y.grad)


@told("custom_function_wrong_gradient", why="the gradients are given")
def gradients_of_wrong_shape(torch, Function, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x, grad):
            ctx.grad = grad
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return ctx.grad, None

    x = torch.ones(2, 3, requires_grad=True)
    for grad in (
        torch.ones(2, 3),
        torch.ones(3),
        torch.ones(()),
        torch.ones(4, 2, 3),
        torch.ones(3, 2),
        torch.ones(1, 3),
        torch.ones(2, 3).double(),
        torch.ones(2, 3).long(),
        torch.ones(2, 3, device="meta"),
        torch.ones(2, 3).bool(),
        torch.ones(2, 3).half(),
        torch.ones(6),
    ):
        x.grad = None
        attempt(lambda: F.apply(x, grad).sum().backward(), tuple(grad.shape), grad.dtype)
        show(x.grad)


def gradient_for_an_argument_that_is_no_tensor(Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, k, x):
            return x * k

        @staticmethod
        def backward(ctx, g):
            return g, g

    attempt(lambda: F.apply(3, leaf(1.0)).backward())


def gradient_for_a_tensor_that_does_not_require_grad(torch, Function, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, k, x):
            return x * k

        @staticmethod
        def backward(ctx, g):
            return torch.ones(5), g

    x = leaf(1.0)
    attempt(lambda: F.apply(torch.ones(()), x).backward())
    show(x.grad)


def double_backward(autograd, Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * x**2

    x = leaf(2.0)
    (g,) = autograd.grad(F.apply(x), x, create_graph=True)
    show(g)
    (h,) = autograd.grad(g, x, create_graph=True)
    show(h.detach(), h.requires_grad)
    show(autograd.grad(h, x))


def once_differentiable(torch, autograd, Function, leaf, show, attempt):
    once_differentiable = torch.autograd.function.once_differentiable

    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            show(torch.is_grad_enabled(), g)
            return g * 2

    x = leaf(2.0)
    F.apply(x).backward()
    show(x.grad)
    (g,) = autograd.grad(F.apply(x), x, create_graph=True)
    show(g)
    attempt(lambda: g.backward())
    w = leaf(3.0)
    (g,) = autograd.grad(F.apply(x), x, w, create_graph=True)
    show(g, g.grad_fn.next_functions)
    attempt(lambda: g.backward())


@told("custom_function_wrong_gradient", why="None for an input that matters")
def once_differentiable_with_several(torch, autograd, Function, leaf, show, attempt):
    once_differentiable = torch.autograd.function.once_differentiable

    class F(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            return g * 2, None

    x, y, w = leaf(2.0), leaf(2.0), leaf(2.0)
    g = autograd.grad(F.apply(x, y), (x, y), w, create_graph=True, allow_unused=True)
    show(g)
    attempt(lambda: g[0].backward())


def inplace_function_and_nested_iofunction(torch, Function, leaf, show, attempt):
    InplaceFunction, NestedIOFunction = torch.autograd.function.InplaceFunction, torch.autograd.function.NestedIOFunction
    attempt(lambda: type(InplaceFunction()))
    attempt(lambda: InplaceFunction(True).inplace)
    attempt(lambda: type(NestedIOFunction()))
    show(issubclass(InplaceFunction, Function), issubclass(NestedIOFunction, Function))

    class F(InplaceFunction):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(1.0)
    F.apply(x).backward()
    show(x.grad)


def retain_grad_and_hooks_on_outputs_of_a_function(Function, leaf, show):
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
    a.retain_grad()
    b.register_hook(lambda g: g * 10)
    (a + b).backward()
    show(a.grad, b.grad, x.grad)


def calling_a_node(torch, Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(1.0)
    y = F.apply(x)
    attempt(lambda: y.grad_fn(torch.ones(())))
    attempt(lambda: y.grad_fn.apply(torch.ones(())))
    attempt(lambda: y.grad_fn())
    z = x * 3
    attempt(lambda: z.grad_fn(torch.ones(())))
    attempt(lambda: z.grad_fn())
    attempt(lambda: z.grad_fn(torch.ones(()), torch.ones(())))
    attempt(lambda: z.grad_fn(None))
    attempt(lambda: z.grad_fn(3))


@told("custom_function_wrong_gradient", why="a gradient that is easy to tell apart")
def same_tensor_as_two_arguments(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return g * 2, g * 3

    x = leaf(1.0)
    F.apply(x, x).backward()
    show(x.grad)


def tensors_inside_lists(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, xs, k):
            show(ctx.needs_input_grad)
            return xs[0] * 2

        @staticmethod
        def backward(ctx, g):
            return None, None

    x = leaf(1.0)
    y = F.apply([x], {"a": x})
    show(y)


@told("custom_function_wrong_gradient", why="None is what comes next")
def gradients_of_undefined_outputs_with_materialize_off(autograd, Function, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            show(g)
            return g

    class G(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return None

    x = leaf(1.0)
    G.apply(F.apply(x)).backward()
    show(x.grad)
    attempt(lambda: autograd.grad(G.apply(F.apply(x)), x))
    attempt(lambda: autograd.grad(G.apply(F.apply(x)), x, allow_unused=True))


@told("custom_function_wrong_gradient", why="None is what comes next")
def undefined_gradients_through_builtin_ops(Function, leaf, show):
    class G(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return None

    x = leaf(1.0)
    y = (x * 3).exp()
    y.register_hook(lambda g: show("hook", g))
    G.apply(y).backward()
    show(x.grad)


@told("custom_function_wrong_gradient", why="None is what comes next")
def undefined_gradient_reaches_a_function(Function, leaf, show):
    class G(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return None

    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            show("F", g)
            return g

    x = leaf(1.0, 2.0)
    G.apply(F.apply(x)).sum().backward()
    show(x.grad)


def non_contiguous_gradients_reach_backward(torch, Function, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            show(g.stride(), tuple(g.shape))
            return g

    x = torch.ones(2, 3, requires_grad=True)
    F.apply(x).sum().backward()
    F.apply(x).t().contiguous().sum(0).sum().backward()
    F.apply(x).transpose(0, 1).backward(torch.ones(3, 2))


def gradient_given_back_is_the_same_object(torch, Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g

    x = leaf(1.0, 2.0)
    g = torch.ones(2)
    F.apply(x).backward(g)
    show(x.grad is g, x.grad.data_ptr() == g.data_ptr())
    (F.apply(x) + 0).backward(g)
    show(x.grad, g)


def one_gradient_for_two_inputs(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            g = g * 1
            return g, g

    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    F.apply(x, y).sum().backward()
    x.grad.mul_(5)
    show(x.grad, y.grad)


def saved_gradient_of_backward(Function, leaf, show):
    kept = []

    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            out = g * 2
            kept.append(out)
            return out

    x = leaf(1.0, 2.0)
    F.apply(x).sum().backward()
    x.grad.mul_(100)
    show(kept[0], x.grad)


def writing_to_grad_output(torch, Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g.mul_(2)

    x = leaf(1.0, 2.0)
    g = torch.ones(2)
    F.apply(x).backward(g)
    show(x.grad)


@told("custom_function_wrong_gradient", why="integers are the point")
def integer_tensors_as_gradients_of_float_inputs(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g.long()

    x = leaf(1.0)
    F.apply(x).backward()
    show(x.grad)


def gradients_of_half_inputs(torch, Function, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x.float() * 2

        @staticmethod
        def backward(ctx, g):
            show(g)
            return g * 2

    x = torch.ones(2, dtype=torch.float16, requires_grad=True)
    F.apply(x).sum().backward()
    show(x.grad)


def broadcast_gradients_of_a_function(torch, Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return g, g

    x, y = leaf(1.0, 2.0), leaf(3.0)
    F.apply(x, y).sum().backward()
    show(x.grad, y.grad)
    z = torch.ones(2, 1, requires_grad=True)
    F.apply(x, z).sum().backward()
    show(z.grad)
