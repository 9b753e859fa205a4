"""Transforms and modules: functional_call, stack_module_state."""

from tests.programs import own


def functional_call(torch, nn, functional_call, x23, show):
    m = nn.Linear(3, 2).double()
    p = {k: torch.ones_like(v) for k, v in m.named_parameters()}
    show(functional_call(m, p, (x23,)), functional_call(m, p, x23))


def functional_call_with_some_parameters(torch, nn, functional_call, f64, x23, show):
    m = nn.Linear(3, 2).double()
    with torch.no_grad():
        m.weight.fill_(1)
        m.bias.fill_(2)
    show(functional_call(m, {"bias": torch.zeros(2, dtype=f64)}, x23))


def functional_call_with_an_unknown_name(torch, nn, functional_call, show):
    m = nn.Linear(3, 2)
    show(functional_call(m, {"nothing": torch.zeros(2)}, torch.ones(3)))


def functional_call_strict_with_an_unknown_name(torch, nn, functional_call):
    m = nn.Linear(3, 2)
    functional_call(m, {"weight": torch.zeros(2, 3), "bias": torch.zeros(2), "nothing": torch.zeros(2)}, torch.ones(3), strict=True)


def functional_call_strict_with_a_missing_name(torch, nn, functional_call):
    m = nn.Linear(3, 2)
    functional_call(m, {"weight": torch.zeros(2, 3)}, torch.ones(3), strict=True)


def functional_call_strict(torch, nn, functional_call, show):
    m = nn.Linear(3, 2)
    show(functional_call(m, {"weight": torch.zeros(2, 3), "bias": torch.zeros(2)}, torch.ones(3), strict=True))


def functional_call_with_tuples_of_dicts(torch, nn, functional_call, show):
    m = nn.Linear(3, 2)
    show(functional_call(m, ({"weight": torch.zeros(2, 3)}, {"bias": torch.ones(2)}), torch.ones(3)))


def functional_call_with_a_name_twice(torch, nn, functional_call):
    m = nn.Linear(3, 2)
    functional_call(m, ({"weight": torch.zeros(2, 3)}, {"weight": torch.ones(2, 3)}), torch.ones(3))


def functional_call_with_no_dict(torch, nn, functional_call):
    functional_call(nn.Linear(3, 2), 3, torch.ones(3))


def functional_call_with_a_list_of_something(torch, nn, functional_call):
    functional_call(nn.Linear(3, 2), [3], torch.ones(3))


def functional_call_with_keyword_arguments(torch, nn, functional_call, f64, x3, show):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(3, dtype=f64))

        def forward(self, x, scale=1):
            return self.w * x * scale

    show(functional_call(M(), {"w": x3}, (x3,), {"scale": 2}))


def functional_call_with_keyword_arguments_only(torch, nn, functional_call, f64, x3, show):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(3, dtype=f64))

        def forward(self, x, scale=1):
            return self.w * x * scale

    show(functional_call(M(), {"w": x3}, kwargs={"x": x3}))


def functional_call_leaves_the_module_alone(torch, nn, functional_call, show):
    m = nn.Linear(3, 2)
    before = m.weight
    functional_call(m, {"weight": torch.zeros(2, 3)}, torch.ones(3))
    show(m.weight is before)


def functional_call_leaves_the_module_alone_after_an_error(torch, nn, functional_call, show):
    m = nn.Linear(3, 2)
    before = m.weight
    try:
        functional_call(m, {"weight": torch.zeros(2, 4)}, torch.ones(3))
    except RuntimeError:
        show("raised")
    show(m.weight is before)


@own("nodes")
def functional_call_with_tied_weights(torch, nn, functional_call, show):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(2, 2, bias=False)
            self.b = nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight

        def forward(self, x):
            return self.b(self.a(x))

    m = M()
    with torch.no_grad():
        m.a.weight.copy_(torch.eye(2))
    show(functional_call(m, {"a.weight": torch.eye(2) * 2}, torch.ones(2)))
    show(functional_call(m, {"a.weight": torch.eye(2) * 2}, torch.ones(2), tie_weights=False))
    show(functional_call(m, {"a.weight": torch.eye(2) * 2, "b.weight": torch.eye(2) * 3}, torch.ones(2), tie_weights=False))


def functional_call_with_tied_weights_given_twice(torch, nn, functional_call):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(2, 2, bias=False)
            self.b = nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight

        def forward(self, x):
            return self.b(self.a(x))

    functional_call(M(), {"a.weight": torch.eye(2) * 2, "b.weight": torch.eye(2) * 3}, torch.ones(2))


def functional_call_with_tied_weights_given_twice_the_same(torch, nn, functional_call, show):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(2, 2, bias=False)
            self.b = nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight

        def forward(self, x):
            return self.b(self.a(x))

    t = torch.eye(2) * 2
    show(functional_call(M(), {"a.weight": t, "b.weight": t}, torch.ones(2)))
    show(functional_call(M(), {"a.weight": t}, torch.ones(2), strict=True))


def functional_call_with_buffers(torch, nn, functional_call, show):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x):
            self.count.add_(1)
            return x + self.count

    m = M()
    c = torch.zeros(1)
    show(functional_call(m, {"count": c}, torch.ones(1)), c, m.count)


def functional_call_with_a_replaced_buffer(torch, nn, functional_call, show):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x):
            self.count = self.count + 1
            return x + self.count

    m = M()
    d = {"count": torch.zeros(1)}
    show(functional_call(m, d, torch.ones(1)), d["count"], m.count)


def functional_call_with_something_that_is_no_tensor(torch, nn, functional_call):
    functional_call(nn.Linear(3, 2), {"weight": 3}, torch.ones(3))


def functional_call_with_a_parameter_replaced_by_none(torch, nn, functional_call):
    functional_call(nn.Linear(3, 2), {"weight": None}, torch.ones(3))


def functional_call_of_a_nested_name(torch, nn, functional_call, show):
    m = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    show(functional_call(m, {"1.weight": torch.zeros(1, 2), "1.bias": torch.ones(1)}, torch.ones(2)))


def functional_call_of_a_nested_name_that_is_not_there(torch, nn, functional_call):
    m = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    functional_call(m, {"2.weight": torch.zeros(1, 2)}, torch.ones(2))


def grad_of_functional_call(torch, nn, grad, functional_call, f64, x3, show):
    m = nn.Linear(3, 1, bias=False).double()
    p = {"weight": torch.ones(1, 3, dtype=f64)}
    show(grad(lambda p, x: functional_call(m, p, x).sum())(p, x3))


def per_sample_gradients(torch, nn, grad, vmap, functional_call, f64, x33, show):
    m = nn.Linear(3, 1, bias=False).double()
    p = {"weight": torch.ones(1, 3, dtype=f64)}
    show(vmap(grad(lambda p, x: (functional_call(m, p, x) ** 2).sum()), in_dims=(None, 0))(p, x33))


def stack_module_state(nn, func, show):
    models = [nn.Linear(2, 1) for _ in range(3)]
    p, b = func.stack_module_state(models)
    show({k: (tuple(v.shape), v.requires_grad, v.is_leaf) for k, v in p.items()}, b)


def stack_module_state_of_nothing(func):
    func.stack_module_state([])


def stack_module_state_of_different_classes(nn, func):
    func.stack_module_state([nn.Linear(2, 1), nn.ReLU()])


def stack_module_state_of_different_modes(nn, func):
    func.stack_module_state([nn.Linear(2, 1), nn.Linear(2, 1).eval()])


def stack_module_state_of_different_requires_grad(nn, func):
    a = nn.Linear(2, 1)
    a.weight.requires_grad_(False)
    func.stack_module_state([a, nn.Linear(2, 1)])


def stack_module_state_without_grad(nn, func, show):
    ms = [nn.Linear(2, 1) for _ in range(2)]
    for m in ms:
        m.requires_grad_(False)
    p, b = func.stack_module_state(ms)
    show({k: (v.requires_grad, v.is_leaf) for k, v in p.items()})


def ensemble(torch, nn, func, vmap, functional_call, x23, show):
    models = [nn.Linear(2, 1).double() for _ in range(3)]
    for i, m in enumerate(models):
        with torch.no_grad():
            m.weight.fill_(i)
            m.bias.fill_(1)
    p, b = func.stack_module_state(models)
    out = vmap(lambda p, b, x: functional_call(models[0], (p, b), (x,)), in_dims=(0, 0, None))(p, b, x23[:, :2])
    show(out)
