"""vmap: what it wraps and what it meets: nesting, modules, Functions, modes, errors."""

import functools

from tests.programs import own


def nested(vmap, x3, show):
    show(vmap(vmap(lambda x, y: x * y, in_dims=(0, None)), in_dims=(None, 0))(x3, x3))


def nested_closing_over(vmap, x3, show):
    show(vmap(lambda x: vmap(lambda y: x * y)(x3))(x3))


@own("words")
def nested_in_place_on_the_outer_tensor(vmap, x3):
    vmap(lambda x: vmap(lambda y: x.add_(y))(x3))(x3.clone())


def nested_out_dims(torch, vmap, show):
    show(vmap(vmap(lambda x: x, out_dims=-1), out_dims=-1)(torch.arange(24.0).reshape(2, 3, 4)).shape)


def keyword_arguments_are_not_mapped(vmap, x3, show):
    show(vmap(lambda x, y=None: x + y.sum())(x3, y=x3))


def keyword_argument_only(vmap, x3):
    vmap(lambda x: x)(x=x3)


def name_of_a_wrapped_function(vmap, show):
    def some(x):
        "doc"
        return x

    show(vmap(some).__name__, vmap(some).__doc__)


def a_partial_function(torch, vmap, x3, show):
    show(vmap(functools.partial(torch.mul, torch.tensor(2.0)))(x3))


def a_callable_object(vmap, x3, show):
    class Twice:
        def __call__(self, x):
            return x * 2

    show(vmap(Twice())(x3))


def a_callable_object_in_an_error(vmap, x3):
    class Twice:
        def __call__(self, x):
            return 1

    vmap(Twice())(x3)


def a_module(nn, vmap, x23, show):
    m = nn.Linear(3, 2).double()
    show(vmap(m)(x23).shape, vmap(m)(x23).requires_grad)


def torch_vmap_is_func_vmap(torch, x3, show):
    show(torch.vmap is torch.func.vmap, torch.vmap(lambda x: x * 2)(x3))


def escape(vmap, x3):
    kept = []
    vmap(lambda x: kept.append(x) or x)(x3)
    kept[0] + 1


def escape_printed(vmap, x3, show):
    kept = []
    vmap(lambda x: kept.append(x) or x)(x3)
    show(len(repr(kept[0])) > 0, tuple(kept[0].shape))


def error_from_the_function(vmap, x3):
    def f(x):
        raise KeyError("mine")

    vmap(f)(x3)


def an_autograd_function_without_vmap(torch, vmap, x3):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    vmap(Double.apply)(x3)


def an_autograd_function_with_setup_context_and_without_vmap(torch, vmap, x3):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return g * 2

    vmap(Double.apply)(x3)


def an_autograd_function_with_generate_vmap_rule(torch, grad, vmap, x3, show):
    class Double(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return g * 2

    show(vmap(Double.apply)(x3), vmap(grad(Double.apply))(x3))


def a_mode_around_vmap_sees_the_calls(torch, show):
    class Seen(torch.overrides.TorchFunctionMode):
        def __init__(self):
            self.calls = []

        def __torch_function__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            if func.__name__ in ("sin", "cos", "maximum", "exp", "add", "sum", "__getitem__"):
                self.calls.append((func.__name__, tuple(result.shape)))
            return result

    x = torch.arange(6.0).reshape(2, 3)
    f = lambda x: (torch.maximum(x.sin(), x[0].cos()).exp() + x).sum()
    for run in (lambda: torch.func.vmap(f)(x), lambda: torch.func.vmap(torch.func.grad(f))(x), lambda: torch.func.jvp(f, (x,), (x,))):
        with Seen() as outer, Seen() as inner:
            run()
        show(outer.calls, inner.calls)


def a_mode_inside_vmap(torch, show):
    class Doubles(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            return result * 2 if func.__name__ == "sin" else result

    def f(x):
        with Doubles():
            return x.sin() + x

    show(torch.func.vmap(f)(torch.arange(6.0).reshape(2, 3)), torch.func.vmap(torch.func.grad(lambda x: f(x).sum()))(torch.ones(2, 3)))
