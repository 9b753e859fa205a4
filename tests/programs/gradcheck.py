"""gradcheck and gradgradcheck."""

from tests.programs import told


def a_right_derivative(torch, show):
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    show(torch.autograd.gradcheck(lambda x: x**2, x))
    show(torch.autograd.gradcheck(lambda x: x**2, (x,)))
    show(torch.autograd.gradcheck(lambda x: (x**2, x.sin()), (x,), fast_mode=True))
    show(torch.autograd.gradgradcheck(lambda x: x**3, (x,)))


@told("custom_function_wrong_gradient", why="gradcheck finds it too")
def a_wrong_derivative(torch, Function, show, attempt):
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx, g):
            return g * 3

    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    attempt(lambda: torch.autograd.gradcheck(Wrong.apply, (x,)))
    attempt(lambda: torch.autograd.gradcheck(Wrong.apply, (x,), fast_mode=True))
    show(torch.autograd.gradcheck(Wrong.apply, (x,), raise_exception=False))
    attempt(lambda: torch.autograd.gradgradcheck(Wrong.apply, (x,)))
    show(torch.autograd.gradgradcheck(Wrong.apply, (x,), raise_exception=False))


def inputs_of_gradcheck(torch, attempt, kind):
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    attempt(lambda: torch.autograd.gradcheck(lambda x: x**2, (x,)))
    attempt(lambda: torch.autograd.gradcheck(lambda x: x**2, (x.float().requires_grad_(),), atol=1e-2, eps=1e-2))
    attempt(lambda: torch.autograd.gradcheck(lambda x: x**2, ()))
    attempt(lambda: torch.autograd.gradcheck(lambda x: x**2, 3))
    attempt(lambda: torch.autograd.gradcheck(lambda x, y: x * y, (x.requires_grad_(), 3.0)))
    attempt(lambda: torch.autograd.gradcheck(lambda x: x.long(), (x,)))
    kind(lambda: torch.autograd.gradcheck(lambda x: 3, (x,)))
    attempt(lambda: torch.autograd.gradcheck(lambda x: x.detach(), (x,)))
    attempt(lambda: torch.autograd.gradcheck(lambda x: [x, x], (x,)))
    kind(lambda: torch.autograd.gradcheck(lambda x: (x, 3), (x,)))


def overlapping_memory(torch, attempt):
    x = torch.ones(1, dtype=torch.float64).expand(3).requires_grad_()
    attempt(lambda: torch.autograd.gradcheck(lambda x: x**2, (x,)))


def nondeterministic(torch, Function, attempt):
    calls = []

    class Odd(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            calls.append(1)
            return g * 2 + (1e-6 if len(calls) % 2 else 0)

    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    attempt(lambda: torch.autograd.gradcheck(Odd.apply, (x,)))
    attempt(lambda: torch.autograd.gradcheck(Odd.apply, (x,), nondet_tol=1e-3))


def gradients_of_wrong_dtype(torch, Function, attempt):
    class Narrow(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return (g * 2).float()

    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    attempt(lambda: torch.autograd.gradcheck(Narrow.apply, (x,), check_grad_dtypes=True))


def undefined_gradients(torch, Function, attempt):
    class Undefined(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            return a * 2 + b * 3

    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    attempt(lambda: torch.autograd.gradcheck(Undefined.apply, (x,)))
    attempt(lambda: torch.autograd.gradcheck(Undefined.apply, (x,), check_undefined_grad=False))


@told("custom_function_wrong_gradient", why="gradcheck finds it too")
def backward_that_ignores_zeros(torch, Function, attempt):
    class Constant(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return torch.full_like(g, 2.0)

    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    attempt(lambda: torch.autograd.gradcheck(Constant.apply, (x,)))


def forward_mode(torch, Function, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, t):
            return t * 3

    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    attempt(lambda: torch.autograd.gradcheck(F.apply, (x,)))
    attempt(lambda: torch.autograd.gradcheck(F.apply, (x,), check_forward_ad=True))
    attempt(lambda: torch.autograd.gradcheck(F.apply, (x,), check_forward_ad=True, check_backward_ad=False))
    attempt(lambda: torch.autograd.gradcheck(lambda x: x**2, (x,), check_forward_ad=True, check_backward_ad=False))
    attempt(lambda: torch.autograd.gradcheck(lambda x: x**2, (x,), check_forward_ad=False, check_backward_ad=False))


def batched_gradients(torch, attempt):
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    attempt(lambda: torch.autograd.gradcheck(lambda x: x**2, (x,), check_batched_grad=True))
    attempt(lambda: torch.autograd.gradcheck(lambda x: x**2, (x,), check_forward_ad=True, check_batched_forward_grad=True))
    attempt(lambda: torch.autograd.gradcheck(lambda x: x**2, (x,), check_batched_forward_grad=True))


def gradgradcheck_arguments(torch, attempt):
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    attempt(lambda: torch.autograd.gradgradcheck(lambda x: x**3, (x,), torch.ones(2, dtype=torch.float64, requires_grad=True)))
    attempt(lambda: torch.autograd.gradgradcheck(lambda x: x**3, (x,), gen_non_contig_grad_outputs=True))
    attempt(lambda: torch.autograd.gradgradcheck(lambda x: x**3, (x,), check_fwd_over_rev=True))
    attempt(lambda: torch.autograd.gradgradcheck(lambda x: x**3, (x,), check_fwd_over_rev=True, check_rev_over_rev=False))
    attempt(lambda: torch.autograd.gradgradcheck(lambda x: x**3, (x,), check_fwd_over_rev=False, check_rev_over_rev=False))
    attempt(lambda: torch.autograd.gradgradcheck(lambda x: x * 2, (x,)))


def gradcheck_of_functions_without_derivative(torch, attempt):
    x = torch.tensor([1.5, 2.5], dtype=torch.float64, requires_grad=True)
    attempt(lambda: torch.autograd.gradcheck(lambda x: x.round(), (x,)))
    attempt(lambda: torch.autograd.gradcheck(lambda x, y: x * 2, (x, x.detach().clone().requires_grad_())))
    attempt(lambda: torch.autograd.gradcheck(lambda x: x.sum().detach() + x.detach().sum(), (x,)))


def gradcheck_error(torch, show):
    show(issubclass(torch.autograd.gradcheck.__globals__["GradcheckError"], RuntimeError))


def masked_and_sparse_arguments(torch, attempt):
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    attempt(lambda: torch.autograd.gradcheck(lambda x: x**2, (x,), masked=True))
    attempt(lambda: torch.autograd.gradcheck(lambda x: x**2, (x,), masked=False))
