"""Custom Functions in forward mode: save_for_forward and jvp."""


def save_for_forward(torch, Function, fwAD, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            attempt(lambda: ctx.saved_for_forward, "unset")
            ctx.save_for_forward(x, None)
            ctx.save_for_backward(x)
            show("set", [t is not None for t in ctx.saved_for_forward])
            return x * 2

        @staticmethod
        def jvp(ctx, t):
            show("jvp", [t is not None for t in ctx.saved_tensors])
            return t * 2

        @staticmethod
        def backward(ctx, g):
            show("backward", len(ctx.saved_tensors))
            attempt(lambda: ctx.saved_for_forward, "backward")
            return g * 2

    x = leaf(1.0)
    with fwAD.dual_level():
        d = fwAD.make_dual(x, torch.ones(()))
        y = F.apply(d)
        show(fwAD.unpack_dual(y).tangent)
        y.backward()
    show(x.grad)


def save_for_forward_of_other_things(Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x, what):
            ctx.save_for_forward(what)
            return x * 2

    for what in (None, 1, "a", [1.0]):
        attempt(lambda: F.apply(leaf(1.0), what))


def jvp_that_returns_none(torch, Function, fwAD, kind):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def jvp(ctx, t):
            return None

    with fwAD.dual_level():
        kind(lambda: fwAD.unpack_dual(F.apply(fwAD.make_dual(torch.ones(2), torch.ones(2)))))


def jvp_with_the_wrong_number(torch, Function, fwAD, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def jvp(ctx, t):
            return t, t

    with fwAD.dual_level():
        attempt(lambda: fwAD.unpack_dual(F.apply(fwAD.make_dual(torch.ones(2), torch.ones(2)))))


def jvp_with_too_few(torch, Function, fwAD, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def jvp(ctx, t):
            return t

    with fwAD.dual_level():
        attempt(lambda: F.apply(fwAD.make_dual(torch.ones(2), torch.ones(2))))


def jvp_of_two_outputs_one_none(torch, Function, fwAD, kind):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def jvp(ctx, t):
            return t, None

    with fwAD.dual_level():
        kind(lambda: [fwAD.unpack_dual(o) for o in F.apply(fwAD.make_dual(torch.ones(2), torch.ones(2)))])


def jvp_with_a_wrong_shape(torch, Function, fwAD, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def jvp(ctx, t):
            return torch.ones(3)

    with fwAD.dual_level():
        attempt(lambda: F.apply(fwAD.make_dual(torch.ones(2), torch.ones(2))))


def jvp_with_a_broadcastable_shape(torch, Function, fwAD, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def jvp(ctx, t):
            return torch.ones(1)

    with fwAD.dual_level():
        attempt(lambda: fwAD.unpack_dual(F.apply(fwAD.make_dual(torch.ones(2), torch.ones(2)))))


def jvp_with_a_wrong_type(torch, Function, fwAD, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def jvp(ctx, t):
            return 3.0

    with fwAD.dual_level():
        attempt(lambda: F.apply(fwAD.make_dual(torch.ones(2), torch.ones(2))))


def jvp_with_a_list(torch, Function, fwAD, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def jvp(ctx, t):
            return [t * 2]

    with fwAD.dual_level():
        attempt(lambda: fwAD.unpack_dual(F.apply(fwAD.make_dual(torch.ones(2), torch.ones(2)))))


def jvp_with_integers(torch, Function, fwAD, kind):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def jvp(ctx, t):
            return t.long()

    with fwAD.dual_level():
        kind(lambda: fwAD.unpack_dual(F.apply(fwAD.make_dual(torch.ones(2), torch.ones(2)))))


def jvp_missing(torch, Function, fwAD, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with fwAD.dual_level():
        attempt(lambda: F.apply(fwAD.make_dual(torch.ones(2), torch.ones(2))))


def jvp_with_a_tensor_for_an_output_that_is_none(torch, Function, fwAD, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, 5

        @staticmethod
        def jvp(ctx, t):
            return t, t

    with fwAD.dual_level():
        attempt(lambda: F.apply(fwAD.make_dual(torch.ones(2), torch.ones(2))))


def jvp_sees_zeros_for_tensors_without_tangents(torch, Function, fwAD, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x, y, k, i):
            return x * y

        @staticmethod
        def jvp(ctx, tx, ty, tk, ti):
            show(tx, ty, tk, ti)
            return tx

    with fwAD.dual_level():
        attempt(lambda: F.apply(fwAD.make_dual(torch.ones(2), torch.ones(2)), torch.ones(2), 3, torch.tensor([1, 2])))


def jvp_sees_none_without_materialize(torch, Function, fwAD, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(False)
            return x * y

        @staticmethod
        def jvp(ctx, tx, ty):
            show(tx, ty)
            return tx

    with fwAD.dual_level():
        attempt(lambda: F.apply(fwAD.make_dual(torch.ones(2), torch.ones(2)), torch.ones(2)))


def jvp_of_a_view(torch, Function, fwAD, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(-1)

        @staticmethod
        def jvp(ctx, t):
            return t.view(-1)

    with fwAD.dual_level():
        attempt(lambda: fwAD.unpack_dual(F.apply(fwAD.make_dual(torch.ones(2, 1), torch.ones(2, 1)))))


def jvp_of_a_view_that_gives_a_copy(torch, Function, fwAD, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(-1)

        @staticmethod
        def jvp(ctx, t):
            return t.clone().view(-1)

    with fwAD.dual_level():
        attempt(lambda: fwAD.unpack_dual(F.apply(fwAD.make_dual(torch.ones(2, 1), torch.ones(2, 1)))))


def jvp_of_a_write_in_place(torch, Function, fwAD, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(3)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def jvp(ctx, t):
            return t.mul_(3)

    with fwAD.dual_level():
        d = fwAD.make_dual(torch.ones(2), torch.ones(2))
        attempt(lambda: fwAD.unpack_dual(F.apply(d)))
        show(fwAD.unpack_dual(d))


def jvp_of_a_write_in_place_that_gives_a_new_tensor(torch, Function, fwAD, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(3)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def jvp(ctx, t):
            return t * 3

    with fwAD.dual_level():
        d = fwAD.make_dual(torch.ones(2), torch.ones(2))
        attempt(lambda: fwAD.unpack_dual(F.apply(d)))


def jvp_that_fails(torch, Function, fwAD, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def jvp(ctx, t):
            raise KeyError("mine")

    with fwAD.dual_level():
        attempt(lambda: F.apply(fwAD.make_dual(torch.ones(2), torch.ones(2))))


def jvp_with_an_output_that_is_marked(torch, Function, fwAD, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.mark_non_differentiable(y)
            return y

        @staticmethod
        def jvp(ctx, t):
            return t * 2

    with fwAD.dual_level():
        attempt(lambda: fwAD.unpack_dual(F.apply(fwAD.make_dual(torch.ones(2), torch.ones(2)))))
