"""Backward hooks of modules and of their parameters."""


def module_full_backward_hooks(torch, nn, show):
    torch.manual_seed(0)
    m = nn.Linear(2, 1)
    with torch.no_grad():
        m.weight.fill_(2.0)
        m.bias.fill_(1.0)
    m.register_full_backward_pre_hook(lambda mod, go: show("pre", type(mod), go))
    m.register_full_backward_hook(lambda mod, gi, go: show("post", gi, go))
    x = torch.ones(3, 2)
    m(x).sum().backward()
    x = torch.ones(3, 2, requires_grad=True)
    y = m(x)
    show(y)
    y.sum().backward()
    show(x.grad)


def module_full_backward_hooks_that_change(torch, nn, show):
    m = nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        m.weight.fill_(2.0)
    m.register_full_backward_pre_hook(lambda mod, go: (go[0] * 10,))
    m.register_full_backward_hook(lambda mod, gi, go: (gi[0] * 100,))
    x = torch.ones(1, 1, requires_grad=True)
    m(x).sum().backward()
    show(x.grad, m.weight.grad)


def module_backward_hooks_both_kinds(nn, attempt):
    m = nn.Linear(1, 1)
    m.register_backward_hook(lambda mod, gi, go: None)
    attempt(lambda: m.register_full_backward_hook(lambda mod, gi, go: None))
    m = nn.Linear(1, 1)
    m.register_full_backward_hook(lambda mod, gi, go: None)
    attempt(lambda: m.register_backward_hook(lambda mod, gi, go: None))


def module_full_backward_hook_and_writes_in_place(torch, nn, show, attempt):
    class M(nn.Module):
        def forward(self, x):
            return x * 2

    m = M()
    m.register_full_backward_hook(lambda mod, gi, go: show(gi, go))
    x = torch.ones(2, requires_grad=True)
    y = m(x)
    attempt(lambda: y.mul_(2))
    y = m(x)
    show(y._is_view())


def module_full_backward_hook_with_odd_outputs(torch, nn, show, attempt):
    class M(nn.Module):
        def forward(self, x):
            return {"a": x * 2}

    m = M()
    m.register_full_backward_hook(lambda mod, gi, go: show(gi, go))
    x = torch.ones(2, requires_grad=True)
    attempt(lambda: m(x)["a"].sum().backward())

    class N(nn.Module):
        def forward(self, x, k):
            return x * 2, k, None

    m = N()
    m.register_full_backward_hook(lambda mod, gi, go: show(gi, go))
    a = m(x, 5)
    show(a)
    a[0].sum().backward()


def module_full_backward_hook_wrong_returns(torch, nn, show, attempt):
    for made in (lambda a: (a,), lambda a: (a, a), lambda a: (None,)):
        m = nn.Identity()
        m.register_full_backward_hook(lambda mod, gi, go: made(gi[0]))
        x = torch.ones(2, requires_grad=True)
        attempt(lambda: m(x).sum().backward())
        show(x.grad)


def module_full_backward_pre_hook_wrong_returns(torch, nn, show, attempt):
    for made in (lambda a: (a * 3,), lambda a: (a, a), lambda a: (None,)):
        m = nn.Identity()
        m.register_full_backward_pre_hook(lambda mod, go: made(go[0]))
        x = torch.ones(2, requires_grad=True)
        attempt(lambda: m(x).sum().backward())
        show(x.grad)


def module_hook_order_with_prepend(torch, nn, show):
    m = nn.Identity()
    m.register_full_backward_hook(lambda mod, gi, go: show("a"))
    m.register_full_backward_hook(lambda mod, gi, go: show("b"), prepend=True)
    m.register_full_backward_pre_hook(lambda mod, go: show("c"))
    m.register_full_backward_pre_hook(lambda mod, go: show("d"), prepend=True)
    x = torch.ones(2, requires_grad=True)
    m(x).sum().backward()


def full_backward_hooks_of_nested_modules(nn, leaf, show):
    class M(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.n = n

        def forward(self, x):
            return x * self.n

    m = nn.Sequential(M(2), nn.Sequential(M(3), M(5)))
    for name, mod in m.named_modules():
        mod.register_full_backward_hook(lambda mod, gi, go, name=name: show(name or "root", gi, go))
        mod.register_full_backward_pre_hook(lambda mod, go, name=name: show("pre", name or "root", go))
    x = leaf(1.0)
    m(x).backward()
    show(x.grad)


def full_backward_hook_removed(nn, leaf, show):
    m = nn.Identity()
    h = m.register_full_backward_hook(lambda mod, gi, go: show("called"))
    x = leaf(1.0)
    y = m(x)
    h.remove()
    y.backward()
    m(x).backward()
    show(x.grad)


def full_backward_hook_of_a_module_called_twice(nn, leaf, show):
    class M(nn.Module):
        def forward(self, x):
            return x * 2

    m = M()
    m.register_full_backward_hook(lambda mod, gi, go: show(gi, go))
    x = leaf(1.0)
    m(m(x)).backward()


def full_backward_hook_with_create_graph(autograd, nn, leaf, show):
    class M(nn.Module):
        def forward(self, x):
            return x**2

    m = M()
    m.register_full_backward_hook(lambda mod, gi, go: show([g.requires_grad for g in gi]))
    x = leaf(3.0)
    (g,) = autograd.grad(m(x), x, create_graph=True)
    show(autograd.grad(g, x))


def full_backward_hook_when_nothing_requires_grad(torch, nn, show):
    m = nn.Identity()
    m.register_full_backward_hook(lambda mod, gi, go: show("called"))
    y = m(torch.ones(2))
    show(y.requires_grad)


def global_module_hooks(nn, leaf, show):
    h = nn.modules.module.register_module_full_backward_hook(lambda mod, gi, go: show(type(mod), gi, go))
    x = leaf(1.0)
    nn.Identity()(x).backward()
    h.remove()
    nn.Identity()(x).backward()


def hooks_on_parameters_of_a_module(torch, nn, show):
    m = nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        m.weight.fill_(2.0)
    m.weight.register_hook(lambda g: g * 10)
    m.weight.register_post_accumulate_grad_hook(lambda p: show(type(p), p.grad))
    m(torch.ones(1, 1)).sum().backward()


def zero_grad_and_hooks(torch, nn, show):
    m = nn.Linear(1, 1, bias=False)
    m(torch.ones(1, 1)).sum().backward()
    m.zero_grad()
    show(m.weight.grad)
    m(torch.ones(1, 1)).sum().backward()
    m.zero_grad(set_to_none=False)
    show(m.weight.grad)
