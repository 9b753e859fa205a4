"""Custom Functions: their classes, arguments of apply, exceptions, modes and nesting."""

from tests.programs import told


def backward_missing(Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    attempt(lambda: F.apply(leaf(1.0)).backward())


def forward_missing(Function, leaf, attempt):
    class F(Function):
        pass

    attempt(lambda: F.apply(leaf(1.0)))
    attempt(lambda: F().forward())
    attempt(lambda: type(F()))
    attempt(lambda: F()(leaf(1.0)))


def backward_and_vjp(Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

        @staticmethod
        def vjp(ctx, g):
            return g

    attempt(lambda: F.apply(leaf(1.0)).backward())


def vjp_alone(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, g):
            return g * 2

    x = leaf(1.0)
    F.apply(x).backward()
    show(x.grad)


def exceptions_in_forward(Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            raise ZeroDivisionError("mine")

    attempt(lambda: F.apply(leaf(1.0)))
    attempt(lambda: F.apply())
    attempt(lambda: F.apply(leaf(1.0), 1))


def exceptions_in_backward(Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise LookupError("mine")

    attempt(lambda: F.apply(leaf(1.0)).backward())


def grad_mode_inside_forward_and_backward(torch, autograd, Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            show(torch.is_grad_enabled(), x, x * 2)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            show(torch.is_grad_enabled(), g)
            return g * 2

    x = leaf(1.0)
    F.apply(x).backward()
    autograd.grad(F.apply(x), x, create_graph=True)
    with torch.no_grad():
        F.apply(x)


def enable_grad_inside_forward(torch, Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            with torch.enable_grad():
                y = x.detach().requires_grad_() * 2
            show(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * 5

    x = leaf(1.0)
    y = F.apply(x)
    show(y)
    y.backward()
    show(x.grad)


def keyword_arguments(Function, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    attempt(lambda: F.apply())


def no_arguments(torch, Function, show):
    class F(Function):
        @staticmethod
        def forward(ctx):
            return torch.ones(2)

        @staticmethod
        def backward(ctx, g):
            return None

    show(F.apply())


@told("custom_function_wrong_gradient", why="a gradient that is easy to tell apart")
def subclasses_inherit(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    class G(F):
        @staticmethod
        def backward(ctx, g):
            return g * 7

    x = leaf(1.0)
    y = G.apply(x)
    show(y)
    y.backward()
    show(x.grad)


def generate_vmap_rule_and_other_attributes_of_the_class(Function, show):
    show(Function.generate_vmap_rule)
    show(
        [
            n
            for n in (
                "apply",
                "backward",
                "forward",
                "jvp",
                "vjp",
                "vmap",
                "setup_context",
                "generate_vmap_rule",
                "mark_dirty",
                "mark_non_differentiable",
                "mark_shared_storage",
                "save_for_backward",
                "save_for_forward",
                "set_materialize_grads",
                "is_traceable",
                "_backward_cls",
            )
            if hasattr(Function, n)
        ]
    )

    class F(Function):
        pass

    show(F._backward_cls.__name__)


def static_method_checks(Function, leaf, show, attempt):
    class F(Function):
        def forward(ctx, x):
            return x * 2

        def backward(ctx, g):
            return g * 2

    x = leaf(1.0)
    attempt(lambda: F.apply(x).backward())
    show(x.grad)


def classmethod_forward(Function, leaf, show, attempt):
    class F(Function):
        @classmethod
        def forward(cls, ctx, x):
            return x * 2

        @classmethod
        def backward(cls, ctx, g):
            return g * 2

    x = leaf(1.0)
    attempt(lambda: F.apply(x).backward())
    show(x.grad)


def set_needs_grad_on_result_under_no_grad(torch, Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(1.0)
    with torch.no_grad():
        y = F.apply(x)
    show(y, y.is_leaf)
    y.requires_grad_()
    show(y)


def reentrant_backward_in_backward(torch, Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            with torch.enable_grad():
                ctx.x = x.detach().requires_grad_()
                ctx.y = ctx.x**2
            return ctx.y.detach()

        @staticmethod
        def backward(ctx, g):
            with torch.enable_grad():
                ctx.y.backward(g)
            return ctx.x.grad

    x = leaf(3.0)
    F.apply(x).backward()
    show(x.grad)


@told("custom_function_wrong_gradient", why="only its name is shown")
def printing_results_of_a_function(Function, leaf, show):
    class MyOp(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

    y = MyOp.apply(leaf(1.0, 2.0))
    show(repr(y))
    show(repr(y.grad_fn).split(" at ")[0])


def a_parameter_through_a_function(torch, Function, nn, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            show(type(x))
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    p = nn.Parameter(torch.ones(2))
    y = F.apply(p)
    show(type(y), y.requires_grad, y.is_leaf)
    y.sum().backward()
    show(p.grad)


def nested_apply_in_forward(torch, Function, leaf, show):
    class Inner(Function):
        @staticmethod
        def forward(ctx, x):
            show("inner", ctx.needs_input_grad, torch.is_grad_enabled())
            return x * 2

        @staticmethod
        def backward(ctx, g):
            show("inner backward")
            return g * 2

    class Outer(Function):
        @staticmethod
        def forward(ctx, x):
            y = Inner.apply(x)
            show(y)
            return y * 3

        @staticmethod
        def backward(ctx, g):
            return g * 6

    x = leaf(1.0)
    y = Outer.apply(x)
    show(y)
    y.backward()
    show(x.grad)


def nested_apply_in_backward(autograd, Function, leaf, show):
    class Inner(Function):
        @staticmethod
        def forward(ctx, g):
            show("inner", ctx.needs_input_grad)
            return g * 2

        @staticmethod
        def backward(ctx, h):
            show("inner backward", h)
            return h * 2

    class Outer(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return Inner.apply(g)

    x, v = leaf(1.0), leaf(3.0)
    (g,) = autograd.grad(Outer.apply(x), x, v, create_graph=True)
    show(g)
    g.backward()
    show(v.grad)


def a_function_of_strings_lists_and_none(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, a, x, b, y, c):
            show(ctx.needs_input_grad)
            return x * y

        @staticmethod
        def backward(ctx, g):
            return None, g * 3, None, g * 5, None

    x, y = leaf(1.0), leaf(2.0)
    z = F.apply("a", x, [1], y, None)
    show(z.grad_fn.next_functions)
    z.backward()
    show(x.grad, y.grad)


def exceptions_leave_grad_mode_as_it_was(torch, autograd, Function, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            raise KeyError("mine")

    attempt(lambda: F.apply(leaf(1.0)))
    show(torch.is_grad_enabled())

    class G(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise KeyError("mine")

    attempt(lambda: G.apply(leaf(1.0)).backward())
    show(torch.is_grad_enabled())
    attempt(lambda: autograd.grad(G.apply(leaf(1.0)), leaf(1.0), create_graph=True))
    show(torch.is_grad_enabled())


def grad_mode_changed_inside_backward(torch, Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            torch.set_grad_enabled(True)
            return g * 2

    class G(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            show(torch.is_grad_enabled())
            return g * 2

    x = leaf(1.0)
    F.apply(G.apply(x)).backward()
    show(torch.is_grad_enabled(), x.grad)


def function_inside_inference_mode(torch, Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            show(ctx.needs_input_grad)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

    x = leaf(1.0)
    with torch.inference_mode():
        y = F.apply(x)
    show(y.requires_grad, y.is_inference())
