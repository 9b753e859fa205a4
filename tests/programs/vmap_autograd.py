"""vmap: autograd inside and around it."""

from tests.programs import differs


def requires_grad_inside(vmap, x3):
    vmap(lambda x: x.requires_grad_())(x3)


def requires_grad_of_a_new_tensor_inside(torch, vmap, x3):
    vmap(lambda x: x * torch.ones(3).requires_grad_())(x3)


def requires_grad_of_a_computed_tensor(vmap, x3):
    vmap(lambda x: (x * 2).requires_grad_())(x3)


def backward_inside(vmap, x3):
    def f(x):
        y = (x * 2).sum()
        y.backward()
        return y

    vmap(f)(x3.clone().requires_grad_())


def backward_inside_of_an_unbatched_tensor(torch, vmap, x3):
    def f(x):
        y = torch.ones(3, requires_grad=True)
        y.sum().backward()
        return x

    vmap(f)(x3)


def autograd_grad_inside(torch, vmap, x3):
    def f(x):
        y = (x**2).sum()
        return torch.autograd.grad(y, x)[0]

    vmap(f)(x3.clone().requires_grad_())


@differs("differentiates it")
def autograd_grad_inside_of_a_tensor_made_there(torch, vmap, x3, show):
    def f(x):
        w = torch.ones(3, requires_grad=True)
        return torch.autograd.grad((w * x).sum(), w)[0]

    show(vmap(f)(x3))


def batch_of_a_tracked_input(vmap, x23, show):
    a = x23.clone().requires_grad_()
    out = vmap(lambda x: (x**2).sum())(a)
    out.sum().backward()
    show(out, a.grad)


def flags_inside(vmap, x23, show):
    a = x23.clone().requires_grad_()
    seen = []
    vmap(lambda x: seen.append((x.requires_grad, x.is_leaf, x.grad_fn is None)) or x * 2)(a)
    show(seen)


def no_grad_inside(torch, vmap, x23, show):
    a = x23.clone().requires_grad_()

    def f(x):
        with torch.no_grad():
            y = x * 2
        return y + x

    out = vmap(f)(a)
    out.sum().backward()
    show(a.grad)


def detach_inside(vmap, x23, show):
    a = x23.clone().requires_grad_()
    show(vmap(lambda x: x.detach() * 2)(a))


def setattr_requires_grad(vmap, x3, show):
    def f(x):
        x.requires_grad = True
        return x

    show(vmap(f)(x3))


def data(vmap, x3, show):
    show(vmap(lambda x: x.data * 2)(x3))


def data_assignment(vmap, x3):
    def f(x):
        y = x * 1
        y.data = x
        return y

    vmap(f)(x3)


def retain_grad_inside(vmap, x3):
    def f(x):
        y = x * 2
        y.retain_grad()
        return y

    vmap(f)(x3.clone().requires_grad_())


def register_hook_inside(vmap, x3, show):
    def f(x):
        y = x * 2
        y.register_hook(lambda g: g * 2)
        return y

    a = x3.clone().requires_grad_()
    vmap(f)(a).sum().backward()
    show(a.grad)
