"""How `.grad` is made, added to, set and shared."""


def accumulation_in_place_and_out_of_place(leaf, show):
    x = leaf(2.0)
    (x * 2).backward()
    a = x.grad
    (x * 3).backward()
    show(x.grad is a, a, a._version)
    x.grad = None
    (x * 3).backward()
    show(a, x.grad)


def stealing(torch, leaf, show):
    x = leaf(1.0, 2.0)
    g = torch.ones(2)
    y = x + 0
    y.backward(g)
    show(x.grad is g, x.grad.data_ptr() == g.data_ptr())
    x.grad = None
    x.backward(g)
    show(x.grad is g, x.grad.data_ptr() == g.data_ptr())
    x.grad = None
    a = leaf(1.0, 2.0)
    (x + a).sum().backward()
    show(x.grad.data_ptr() == a.grad.data_ptr())


def expanded_gradients(torch, leaf, show):
    x = leaf(1.0, 2.0)
    x.sum().backward()
    show(x.grad.stride(), x.grad.is_contiguous())
    y = torch.ones(2, 3).t().requires_grad_()
    y.sum().backward()
    show(y.grad.stride())
    z = torch.ones(2, 3, 4).permute(2, 0, 1).requires_grad_()
    (z * 2).sum().backward()
    show(z.grad.stride())
    w = torch.ones(1, 3).expand(2, 3).requires_grad_()
    w.sum().backward()
    show(w.grad.stride())
    v = torch.ones(4, 4)[::2, ::2].requires_grad_()
    v.sum().backward()
    show(v.grad.stride())


def gradients_keep_the_layout_of_grad(torch, show):
    x = torch.ones(2, 3, requires_grad=True)
    x.grad = torch.zeros(3, 2).t()
    (x * 2).sum().backward()
    show(x.grad.stride(), x.grad)


def setting_grad(torch, leaf, show, attempt, kind):
    x = leaf(1.0, 2.0)
    attempt(lambda: setattr(x, "grad", torch.ones(2)))
    show(x.grad)
    attempt(lambda: setattr(x, "grad", None))
    attempt(lambda: setattr(x, "grad", torch.ones(3)))
    attempt(lambda: setattr(x, "grad", torch.ones(2, 1)))
    kind(lambda: setattr(x, "grad", torch.ones(2).double()))
    kind(lambda: setattr(x, "grad", torch.ones(2).half()))
    kind(lambda: setattr(x, "grad", torch.ones(2).long()))
    attempt(lambda: setattr(x, "grad", torch.ones(2, device="meta")))
    attempt(lambda: setattr(x, "grad", 3))
    attempt(lambda: setattr(x, "grad", [1.0, 2.0]))
    attempt(lambda: setattr(x, "grad", x))
    kind(lambda: setattr(x, "grad", torch.ones(3).double()))
    show(x.grad)
    attempt(lambda: delattr(x, "grad"))
    show(x.grad)


def setting_grad_of_other_tensors(torch, leaf, show, attempt, kind):
    a = torch.ones(2)
    attempt(lambda: setattr(a, "grad", torch.ones(2)))
    show(a.grad)
    i = torch.ones(2).long()
    attempt(lambda: setattr(i, "grad", torch.ones(2).long()))
    kind(lambda: setattr(i, "grad", torch.ones(2)))
    show(i.grad)
    m = torch.ones(2, device="meta")
    attempt(lambda: setattr(m, "grad", torch.ones(2)))
    attempt(lambda: setattr(m, "grad", torch.ones(2, device="meta")))
    y = leaf(1.0, 2.0) * 2
    attempt(lambda: setattr(y, "grad", torch.ones(2)))
    show(y.grad)


def a_grad_that_requires_grad(leaf, show):
    x = leaf(1.0, 2.0)
    x.grad = leaf(1.0, 1.0)
    (x * 2).sum().backward()
    show(x.grad)


def a_grad_that_is_a_view(torch, leaf, show):
    x = leaf(1.0, 2.0)
    base = torch.zeros(4)
    x.grad = base[:2]
    (x * 2).sum().backward()
    show(base)


def zeroing_grad(leaf, show):
    x = leaf(1.0, 2.0)
    (x * 2).sum().backward()
    g = x.grad
    x.grad.zero_()
    show(x.grad, x.grad is g)
    x.grad.detach_()
    (x * 2).sum().backward()
    show(g)


def grad_dtype(torch, leaf, show, attempt):
    x = leaf(1.0, 2.0)
    show(x.grad_dtype)
    x.grad_dtype = torch.float64
    show(x.grad_dtype)
    (x * 2).sum().backward()
    show(x.grad)
    x = leaf(1.0, 2.0)
    x.grad_dtype = None
    x.grad = torch.ones(2).double()
    show(x.grad)
    attempt(lambda: setattr(x, "grad_dtype", 3))


def grad_dtype_rules(torch, leaf, show, attempt, kind):
    x = leaf(1.0, 2.0)
    (x * 2).sum().backward()
    attempt(lambda: setattr(x, "grad_dtype", torch.float64))
    show(x.grad_dtype)
    y = x * 2
    y.retain_grad()
    attempt(lambda: y.grad_dtype)
    attempt(lambda: setattr(y, "grad_dtype", torch.float64))
    z = torch.ones(2)
    attempt(lambda: z.grad_dtype)
    attempt(lambda: setattr(z, "grad_dtype", torch.float64))
    x = leaf(1.0, 2.0)
    x.grad_dtype = torch.float64
    kind(lambda: setattr(x, "grad", torch.ones(2)))
    attempt(lambda: setattr(x, "grad", torch.ones(2).double()))


def grad_dtype_and_casts(torch, leaf, show):
    x = leaf(1.0, 2.0, dtype=torch.float16)
    x.grad_dtype = torch.float32
    x.float().sum().backward()
    show(x.grad)
    x.half().sum().backward()
    show(x.grad)
    x = leaf(1.0, 2.0, dtype=torch.float16)
    x.grad_dtype = None
    x.float().sum().backward()
    show(x.grad)


def memory_of_gradients_between_several_leaves(leaf, show):
    a, b = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (a + b).sum().backward()
    a.grad.mul_(5)
    show(a.grad, b.grad)


def the_gradient_given_is_not_written(torch, leaf, show):
    x = leaf(1.0, 2.0)
    g = torch.ones(2)
    y = x * 1
    y.backward(g)
    (x * 1).backward(g)
    show(g, x.grad)
    x.grad.mul_(7)
    show(g)


def a_shared_grad(torch, leaf, show):
    x, y = leaf(1.0), leaf(2.0)
    g = torch.zeros(())
    x.grad = g
    y.grad = g
    (x * 2 + y * 3).backward()
    show(x.grad, y.grad, g)
