"""grad, vmap and checkpoint inside each other."""

from tests.programs import differs, own


def vmap_of_grad(grad, vmap, x33, show):
    show(vmap(grad(lambda x: (x**2).sum()))(x33))


def grad_of_vmap(grad, vmap, x33, show):
    show(grad(lambda x: vmap(lambda y: y**2)(x).sum())(x33))


def vmap_of_grad_closing_over_a_batched_tensor(grad, vmap, x33, show):
    show(vmap(lambda x: grad(lambda y: (x * y).sum())(x))(x33))


@own("words")
def grad_inside_a_vmap_write_to_an_outer_tensor(torch, grad, vmap, f64, x3, show):
    def f(x, w):
        q = torch.zeros(3, dtype=f64)
        y = x * w
        q.add_(y)
        return (q**2).sum()

    show(vmap(lambda w: grad(f)(x3, w))(torch.tensor([1.0, 2.0], dtype=f64)))


def grad_inside_a_vmap_write_to_an_outer_tensor_unbatched_values(torch, grad, vmap, f64, x3, show):
    def f(x, w):
        q = torch.zeros(3, dtype=f64)
        q.add_(x)
        return (q**2).sum() * w

    show(vmap(lambda w: grad(f)(x3, w))(torch.tensor([1.0, 2.0], dtype=f64)))


@own("nodes")
def grad_inside_a_vmap_write_to_an_outer_tensor_differentiated_on_both_sides(torch, grad, vmap, f64, x3, show):
    def f(x, w):
        q = torch.zeros(3, dtype=f64)
        q.add_(x)
        return (q**3).sum() * w

    x = x3.clone().requires_grad_()
    out = vmap(lambda w: grad(f)(x, w))(torch.tensor([1.0, 2.0], dtype=f64))
    show(out)
    out.sum().backward()
    show(x.grad)


@own("nodes")
def grad_inside_a_vmap_write_of_a_constant_times_an_outer_tracked_tensor(torch, grad, vmap, f64, x3, show):
    w = torch.tensor([1.0, 2.0], dtype=f64, requires_grad=True)

    def f(x, w):
        q = torch.zeros(3, dtype=f64)
        q.add_(x)
        return (q**3).sum() * w

    out = vmap(lambda w: grad(f)(x3, w))(w)
    show(out)
    out.sum().backward()
    show(w.grad)


def grad_of_vmap_of_grad_with_a_write_to_an_outer_tensor(torch, grad, vmap, f64, x3, x33, show):
    def f(x):
        q = torch.zeros(3, dtype=f64)
        q.add_(x3)
        q.mul_(2)
        return (q * x).sum()

    show(grad(lambda z: vmap(grad(f))(z).sum())(x33))


@differs("works")
def grad_of_checkpoint(grad, checkpoint, x3, show):
    show(grad(lambda x: checkpoint(lambda y: (y.sin() * y).sum(), x, use_reentrant=False))(x3))


@differs("works")
def grad_of_grad_of_checkpoint(grad, checkpoint, x3, show):
    show(grad(lambda x: grad(lambda x: checkpoint(lambda y: (y.sin() * y).sum(), x, use_reentrant=False))(x).sum())(x3))


@differs("works")
def vmap_of_grad_of_checkpoint(grad, vmap, checkpoint, x33, show):
    show(vmap(grad(lambda x: checkpoint(lambda y: (y.sin() * y).sum(), x, use_reentrant=False)))(x33))


@differs("works")
def grad_of_vmap_of_checkpoint(grad, vmap, checkpoint, x33, show):
    show(grad(lambda x: vmap(lambda r: checkpoint(lambda y: (y.sin() * y).sum(), r, use_reentrant=False))(x).sum())(x33))


@differs("works")
def backward_of_vmap_of_checkpoint(vmap, checkpoint, x33, show):
    a = x33.clone().requires_grad_()
    vmap(lambda r: checkpoint(lambda y: (y.sin() * y).sum(), r, use_reentrant=False))(a).sum().backward()
    show(a.grad)


def vmap_of_checkpoint(vmap, checkpoint, x33, show):
    show(vmap(lambda r: checkpoint(lambda y: (y.sin() * y).sum(), r, use_reentrant=False))(x33))


def jvp_of_checkpoint(jvp, checkpoint, x3, show):
    show(jvp(lambda x: checkpoint(lambda y: (y.sin() * y).sum(), x, use_reentrant=False), (x3,), (x3,)))


@differs("works")
def jacrev_of_checkpoint(jacrev, checkpoint, x3, show):
    show(jacrev(lambda x: checkpoint(lambda y: y.sin() * y, x, use_reentrant=False))(x3))


@differs("works")
def hessian_of_checkpoint(hessian, checkpoint, x3, show):
    show(hessian(lambda x: checkpoint(lambda y: (y.sin() * y).sum(), x, use_reentrant=False))(x3))


@own("words")
def grad_of_checkpoint_reentrant(grad, checkpoint, x3):
    grad(lambda x: checkpoint(lambda y: (y.sin() * y).sum(), x, use_reentrant=True))(x3)
