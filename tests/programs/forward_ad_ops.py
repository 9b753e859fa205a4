"""Forward mode through ops, modules and custom Functions."""

from tests.programs import own


@own("words")
def out_argument(torch, fwAD, f64, x3, show):
    with fwAD.dual_level():
        y = torch.zeros(3, dtype=f64)
        torch.mul(fwAD.make_dual(x3, x3), 2, out=y)
        show(fwAD.unpack_dual(y))


def an_op_with_an_integer_result(fwAD, x3, show):
    with fwAD.dual_level():
        show(fwAD.unpack_dual(fwAD.make_dual(x3, x3).argmax()), fwAD.unpack_dual(fwAD.make_dual(x3, x3) > 0))


def several_outputs(fwAD, x3, show):
    with fwAD.dual_level():
        d = fwAD.make_dual(x3, x3 * 2)
        v, i = d.sort()
        show(fwAD.unpack_dual(v), fwAD.unpack_dual(i))
        show([fwAD.unpack_dual(p) for p in d.unbind()])


def a_function_without_jvp(torch, fwAD, x3):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    with fwAD.dual_level():
        Double.apply(fwAD.make_dual(x3, x3))


def a_function_with_jvp(torch, fwAD, x3, show):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, t):
            return t * 2

    with fwAD.dual_level():
        show(fwAD.unpack_dual(Double.apply(fwAD.make_dual(x3, x3))))


def a_function_whose_jvp_has_the_wrong_shape(torch, fwAD, x3, show):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, t):
            return t[:1]

    with fwAD.dual_level():
        show(fwAD.unpack_dual(Double.apply(fwAD.make_dual(x3, x3))))


@own("words")
def a_function_whose_jvp_returns_none(torch, fwAD, x3, show):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, t):
            return None

    with fwAD.dual_level():
        show(fwAD.unpack_dual(Double.apply(fwAD.make_dual(x3, x3))))


def a_function_whose_jvp_returns_too_many(torch, fwAD, x3):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, t):
            return t, t

    with fwAD.dual_level():
        Double.apply(fwAD.make_dual(x3, x3))


def a_function_with_save_for_forward(torch, fwAD, f64, x3, show):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_forward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g

        @staticmethod
        def jvp(ctx, t):
            (x,) = ctx.saved_tensors
            return 2 * x * t

    with fwAD.dual_level():
        show(fwAD.unpack_dual(Square.apply(fwAD.make_dual(x3, torch.ones(3, dtype=f64)))))


def item_of_a_dual(fwAD, x3, show):
    with fwAD.dual_level():
        show(fwAD.make_dual(x3, x3).sum().item())


@own("nodes")
def a_parameter_of_a_module(torch, fwAD, nn, F, f64, x3, show):
    m = nn.Linear(3, 2).double()
    with torch.no_grad():
        m.weight.fill_(1)
        m.bias.fill_(1)
    with fwAD.dual_level():
        w = fwAD.make_dual(m.weight, torch.ones(2, 3, dtype=f64))
        show(fwAD.unpack_dual(F.linear(x3, w, m.bias)))


def strides_of_a_tangent(fwAD, x23, show):
    with fwAD.dual_level():
        d = fwAD.make_dual(x23, x23.t().contiguous().t())
        show(fwAD.unpack_dual(d).tangent.stride() == x23.stride(), fwAD.unpack_dual(d[0]).tangent)


def expanded_tangent(torch, fwAD, f64, x3, show):
    with fwAD.dual_level():
        d = fwAD.make_dual(x3.clone(), torch.ones((), dtype=f64).expand(3))
        d.mul_(x3)
        show(fwAD.unpack_dual(d))


def embedding_with_max_norm(torch, fwAD, f64, show):
    w = torch.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]], dtype=f64)
    with fwAD.dual_level():
        d = fwAD.make_dual(w, w.clone() + 1)
        show(fwAD.unpack_dual(torch.nn.functional.embedding(torch.tensor([0, 1, 0]), d, max_norm=1.0)))


def gaussian_nll_loss_along_its_variance(torch, fwAD, x3, show):
    with fwAD.dual_level():
        show(fwAD.unpack_dual(torch.nn.functional.gaussian_nll_loss(x3, x3 + 1, fwAD.make_dual(x3 * x3 + 1, x3))))


def igamma_along_its_first_argument(torch, fwAD, x3, show):
    with fwAD.dual_level():
        show(torch.igamma(fwAD.make_dual(x3, x3), x3))
