"""Forward mode: memory that duals and tangents share, and writes in place."""

from tests.programs import differs


def make_dual_shares_memory(fwAD, x3, show):
    with fwAD.dual_level():
        a = x3.clone()
        d = fwAD.make_dual(a, x3)
        a.mul_(2)
        show(fwAD.unpack_dual(d).primal, d._is_view())


@differs("no view")
def the_primal_that_is_unpacked(fwAD, x3, show):
    with fwAD.dual_level():
        d = fwAD.make_dual(x3, x3)
        p = fwAD.unpack_dual(d).primal
        show(p is d, p._is_view(), fwAD.unpack_dual(p))


def the_tangent_that_is_unpacked(fwAD, x3, show):
    with fwAD.dual_level():
        t = x3.clone()
        d = fwAD.make_dual(x3, t)
        show(fwAD.unpack_dual(d).tangent is t, fwAD.unpack_dual(d).tangent.data_ptr() == t.data_ptr())


def in_place_on_a_dual(fwAD, x3, show):
    with fwAD.dual_level():
        d = fwAD.make_dual(x3.clone(), x3.clone())
        d.mul_(2)
        show(fwAD.unpack_dual(d))


def in_place_with_a_dual_on_a_plain_tensor(torch, fwAD, f64, x3, show):
    with fwAD.dual_level():
        d = fwAD.make_dual(x3.clone(), x3.clone())
        y = torch.ones(3, dtype=f64)
        y.mul_(d)
        show(fwAD.unpack_dual(y))


def in_place_on_a_view_of_a_dual(fwAD, x3, show):
    with fwAD.dual_level():
        d = fwAD.make_dual(x3.clone(), x3.clone())
        d[0].mul_(10)
        show(fwAD.unpack_dual(d))


def in_place_with_a_dual_on_a_view_of_a_plain_tensor(torch, fwAD, f64, x3, show):
    with fwAD.dual_level():
        d = fwAD.make_dual(x3.clone(), x3.clone())
        y = torch.ones(3, dtype=f64)
        v = y[1:]
        v.mul_(d[1:])
        show(fwAD.unpack_dual(y), fwAD.unpack_dual(v))


def a_view_of_a_tensor_that_gets_a_tangent_later(torch, fwAD, f64, x3, show):
    with fwAD.dual_level():
        y = torch.ones(3, dtype=f64)
        v = y.view(3, 1)
        y.mul_(fwAD.make_dual(x3, x3))
        show(fwAD.unpack_dual(v))


def in_place_on_the_tangent(fwAD, x3, show):
    with fwAD.dual_level():
        d = fwAD.make_dual(x3.clone(), x3.clone())
        fwAD.unpack_dual(d).tangent.mul_(10)
        show(fwAD.unpack_dual(d * 2))


def in_place_that_forgets_the_tangent(fwAD, x3, show):
    with fwAD.dual_level():
        d = fwAD.make_dual(x3.clone(), x3.clone())
        d.zero_()
        show(fwAD.unpack_dual(d))


def fill_with_a_dual(torch, fwAD, f64, show):
    with fwAD.dual_level():
        y = torch.zeros(3, dtype=f64)
        y.fill_(fwAD.make_dual(torch.tensor(2.0, dtype=f64), torch.tensor(3.0, dtype=f64)))
        show(fwAD.unpack_dual(y))


@differs("a tangent has the dtype of its tensor")
def copy_of_a_dual_to_another_dtype(torch, fwAD, x3, show):
    with fwAD.dual_level():
        y = torch.zeros(3)
        y.copy_(fwAD.make_dual(x3, x3))
        show(fwAD.unpack_dual(y))


def copy_of_a_dual_to_integers(torch, fwAD, x3, show):
    with fwAD.dual_level():
        y = torch.zeros(3, dtype=torch.int64)
        y.copy_(fwAD.make_dual(x3, x3))
        show(fwAD.unpack_dual(y))


def setitem_with_a_dual(torch, fwAD, f64, x3, show):
    with fwAD.dual_level():
        y = torch.zeros(3, dtype=f64)
        y[1] = fwAD.make_dual(x3, x3)[2]
        show(fwAD.unpack_dual(y))


def views_of_a_dual(fwAD, x3, show):
    with fwAD.dual_level():
        d = fwAD.make_dual(x3, x3)
        show(fwAD.unpack_dual(d.view(3, 1)), fwAD.unpack_dual(d.expand(2, 3)))


def a_direction_that_is_filled_in_later(torch, fwAD, f64, x3, show):
    t = torch.zeros(3, dtype=f64)
    with fwAD.dual_level():
        d = fwAD.make_dual(x3, t)
        for i in range(3):
            t.zero_()
            t[i] = 1
            show(fwAD.unpack_dual((d * d).sum()).tangent)


def in_place_on_a_dual_writes_the_tangent_that_was_given(fwAD, x3, show):
    t = x3.clone()
    with fwAD.dual_level():
        d = fwAD.make_dual(x3.clone(), t)
        d.mul_(3)
        d[1:].mul_(2)
        show(t, t._version, fwAD.unpack_dual(d[1:]).tangent.data_ptr() == t[1:].data_ptr())


def a_tangent_that_lies_elsewhere_in_its_memory(torch, fwAD, f64, x3, show):
    with fwAD.dual_level():
        for v, t in (
            (torch.zeros(10, dtype=f64)[2:5], x3),
            (torch.zeros(10, dtype=f64)[2:5], torch.ones(10, dtype=f64)[2:5]),
            (x3, torch.ones(5, dtype=f64)[:3]),
        ):
            u = fwAD.unpack_dual(fwAD.make_dual(v, t)).tangent
            show(u is t, u.stride(), u.storage_offset(), u.untyped_storage().nbytes())


def as_strided_of_a_dual_beyond_its_elements(torch, fwAD, f64, show):
    with fwAD.dual_level():
        d = fwAD.make_dual(torch.zeros(5, dtype=f64)[:4].detach(), torch.ones(4, dtype=f64))
        show(fwAD.unpack_dual(d.as_strided((5,), (1,), 0)).tangent)


def jvp_and_a_function_that_writes_to_its_argument(torch, x3, show):
    x, t = x3.clone(), x3.clone()
    show(torch.func.jvp(lambda x: x.mul_(2) * 1, (x,), (t,)), x, t)


def jvp_in_place_that_forgets_to_write(torch, fwAD, x3, show):
    class Forgets(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def jvp(ctx, t):
            return t

    with fwAD.dual_level():
        show(Forgets.apply(fwAD.make_dual(x3.clone(), x3.clone())))


def a_tensor_that_is_its_own_tangent(fwAD, x3, show):
    x = x3.clone()
    with fwAD.dual_level():
        d = fwAD.make_dual(x, x)
        show(fwAD.unpack_dual(d).tangent is x)
