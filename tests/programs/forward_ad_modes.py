"""Forward mode beside grad modes, backward and the transforms of torch.func."""

from tests.programs import differs, own


def detach_keeps_no_tangent(fwAD, x3, show):
    with fwAD.dual_level():
        d = fwAD.make_dual(x3, x3)
        show(fwAD.unpack_dual(d.detach()), fwAD.unpack_dual(d.detach() * d))


def data_keeps_no_tangent(fwAD, x3, show):
    with fwAD.dual_level():
        d = fwAD.make_dual(x3, x3)
        show(fwAD.unpack_dual(d.data))


def clone_keeps_it(fwAD, x3, show):
    with fwAD.dual_level():
        show(fwAD.unpack_dual(fwAD.make_dual(x3, x3).clone()))


def no_grad_does_not_matter(torch, fwAD, x3, show):
    with fwAD.dual_level(), torch.no_grad():
        show(fwAD.unpack_dual(fwAD.make_dual(x3, x3) * 2))


def inference_mode(torch, fwAD, x3, show):
    with fwAD.dual_level(), torch.inference_mode():
        show(fwAD.unpack_dual(fwAD.make_dual(x3, x3) * 2))


def switched_off(fwAD, x3, show):
    show(fwAD._is_fwd_grad_enabled())
    with fwAD._set_fwd_grad_enabled(False):
        show(fwAD._is_fwd_grad_enabled())
        with fwAD.dual_level():
            d = fwAD.make_dual(x3, x3)
            show(fwAD.unpack_dual(d), fwAD.unpack_dual(d * 2))
    show(fwAD._is_fwd_grad_enabled())


def switched_off_after_make_dual(fwAD, x3, show):
    with fwAD.dual_level():
        d = fwAD.make_dual(x3, x3)
        with fwAD._set_fwd_grad_enabled(False):
            y = d * 2
            show(fwAD.unpack_dual(y))
        show(fwAD.unpack_dual(y), fwAD.unpack_dual(d * 2))


@own("nodes")
def reverse_over_forward(torch, fwAD, x3, show):
    a = x3.clone().requires_grad_()
    with fwAD.dual_level():
        d = fwAD.make_dual(a, x3)
        t = fwAD.unpack_dual(d**3).tangent
        show(t)
        show(torch.autograd.grad(t.sum(), a))


@own("nodes")
def forward_over_reverse(torch, fwAD, f64, x3, show):
    with fwAD.dual_level():
        a = fwAD.make_dual(x3.clone().requires_grad_(), torch.ones(3, dtype=f64))
        (g,) = torch.autograd.grad((a**3).sum(), a, create_graph=True)
        show(fwAD.unpack_dual(g))


def flags_of_a_dual(fwAD, x3, show):
    with fwAD.dual_level():
        d = fwAD.make_dual(x3, x3)
        show(d.requires_grad, d.is_leaf, (d * 2).requires_grad)


@own("nodes")
def a_dual_of_a_tracked_tensor(fwAD, x3, show):
    a = x3.clone().requires_grad_()
    with fwAD.dual_level():
        d = fwAD.make_dual(a, x3)
        show(d.requires_grad, d.is_leaf, fwAD.unpack_dual(d))


@own("nodes")
def a_tracked_tangent(fwAD, x3, show):
    t = x3.clone().requires_grad_()
    with fwAD.dual_level():
        d = fwAD.make_dual(x3, t)
        out = fwAD.unpack_dual(d * 3).tangent
        show(out)
        out.sum().backward()
    show(t.grad)


def a_leaf_cannot_be_written_to(torch, fwAD, f64, x3):
    with fwAD.dual_level():
        a = torch.ones(3, dtype=f64, requires_grad=True)
        a.mul_(fwAD.make_dual(x3, x3))


@differs("levels nest")
def jvp_inside_a_level(fwAD, jvp, x3):
    with fwAD.dual_level():
        d = fwAD.make_dual(x3, x3)
        jvp(lambda x: x**2, (d,), (x3,))


@differs("levels nest")
def a_level_inside_jvp(fwAD, jvp, x3):
    def f(x):
        with fwAD.dual_level():
            return fwAD.unpack_dual(fwAD.make_dual(x, x3) ** 2).tangent

    jvp(f, (x3,), (x3,))


@differs("works")
def a_level_inside_vmap(fwAD, vmap, x33, show):
    def f(x):
        with fwAD.dual_level():
            return fwAD.unpack_dual(fwAD.make_dual(x, x) ** 2).tangent

    show(vmap(f)(x33))


def vmap_inside_a_level(fwAD, vmap, x33, show):
    with fwAD.dual_level():
        d = fwAD.make_dual(x33, x33)
        show(fwAD.unpack_dual(vmap(lambda x: x**2)(d)))


def a_level_inside_grad(torch, fwAD, grad, f64, x3, show):
    def f(x):
        with fwAD.dual_level():
            return fwAD.unpack_dual(fwAD.make_dual(x, torch.ones(3, dtype=f64)) ** 3).tangent.sum()

    show(grad(f)(x3))


def grad_inside_a_level(torch, fwAD, grad, f64, x3, show):
    with fwAD.dual_level():
        d = fwAD.make_dual(x3, torch.ones(3, dtype=f64))
        show(fwAD.unpack_dual(grad(lambda x: (x**3).sum())(d)))


def names_of_forward_ad(fwAD, show):
    show(sorted(fwAD.__all__))
