"""retain_grad and the warning about `.grad` of tensors that are no leaves."""


def retain_grad_and_in_place_writes(leaf, show):
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    show(y.retains_grad)
    (y * 5).backward()
    show(y.grad, x.grad)


def retain_grad_twice_around_a_write(leaf, show):
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y.retain_grad()
    (y * 5).backward()
    show(y.grad)


def retain_grad_of_a_view_and_a_write_to_the_base(leaf, show, attempt):
    x = leaf(1.0, 2.0)
    y = x * 2
    v = y[0]
    v.retain_grad()
    y.mul_(3)
    show(v.retains_grad)
    attempt(lambda: v.backward())
    show(v.grad, x.grad)


def retain_grad_under_no_grad_and_after(torch, leaf, show):
    x = leaf(1.0)
    y = x * 2
    with torch.no_grad():
        y.retain_grad()
    show(y.retains_grad, x.retains_grad)
    y.backward()
    show(y.grad)
    x.retain_grad()
    show(x.retains_grad)


def retain_grad_accumulates(leaf, show):
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.backward(retain_graph=True)
    y.backward()
    show(y.grad)


def retain_grad_with_create_graph(leaf, show):
    x = leaf(2.0)
    y = x * x
    y.retain_grad()
    (y * y).backward(create_graph=True)
    show(y.grad)
    show(x.grad.requires_grad, x.grad.detach())


def retain_grad_in_grad_with_inputs(autograd, leaf, show):
    x = leaf(2.0)
    y = x * x
    z = y * 3
    y.retain_grad()
    show(autograd.grad(z, x, retain_graph=True))
    show(y.grad)
    y.grad = None
    show(autograd.grad(z, y, retain_graph=True))
    show(y.grad)


def grad_of_a_non_leaf_warns(leaf, show):
    x = leaf(2.0)
    y = x * x
    show(y.grad)
    y.backward()
    show(y.grad)
    y.retain_grad()
    show(y.grad)


def retain_grad_of_a_leaf_and_no_grad_result(torch, leaf, show, attempt):
    x = leaf(1.0)
    x.retain_grad()
    (x * 2).backward()
    show(x.grad, x.retains_grad)
    with torch.no_grad():
        y = x * 2
    attempt(lambda: y.retain_grad())


def retain_grad_on_a_view_and_its_base(leaf, show):
    x = leaf(1.0, 2.0)
    y = x * 2
    y.retain_grad()
    v = y[0]
    v.retain_grad()
    (v * 3).backward()
    show(y.grad, v.grad)


def retain_grad_with_hooks_that_were_registered_later(leaf, show):
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    y.backward()
    show(y.grad)
    y = x * 2
    y.register_hook(lambda g: g * 2)
    y.retain_grad()
    y.backward()
    show(y.grad)


def retain_grad_with_prehooks(leaf, show):
    x = leaf(1.0)
    y = x * 2
    y.grad_fn.register_prehook(lambda gs: (gs[0] * 3,))
    y.retain_grad()
    y.backward()
    show(y.grad, x.grad)


def retained_gradient_and_grad_of_inputs(autograd, leaf, show):
    x = leaf(1.0)
    y = x * 2
    z = y * 3
    y.retain_grad()
    show(autograd.grad(z, [y, x]))
    show(y.grad)
