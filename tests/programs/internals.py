"""What programs use of PyTorch's inside, beside its public names."""

from importlib import import_module

from tests.programs import differs, own


def _inside(torch, name):
    return import_module(f"{torch.__name__}.{name}")


def the_old_vmap(torch, x33, show, attempt):
    vmap = _inside(torch, "_vmap_internals")._vmap
    x = x33.clone().requires_grad_()
    y = (x**3).sum(0)
    show(vmap(lambda v: torch.autograd.grad(y, x, v, retain_graph=True)[0])(torch.eye(3, dtype=torch.float64)))
    show(vmap(lambda a, b: (a * b, a.sum()), in_dims=(0, None), out_dims=(1, 0))(x33, x33[0]))
    show(vmap(lambda a: (a + 1, None), allow_none_pass_through=True)(x33))
    show(vmap(vmap(lambda a: a * 2), in_dims=1)(x33))
    attempt(lambda: vmap(lambda a: (a, None))(x33))
    attempt(lambda: vmap(lambda a: [a])(x33))
    attempt(lambda: vmap(lambda a: 1)(x33))
    attempt(lambda: vmap(lambda a: (a, a), out_dims=(0,))(x33))
    attempt(lambda: vmap(lambda a: a, out_dims=None)(x33))
    attempt(lambda: vmap(lambda a, b: a * b)(x33, x33[:2]))


def the_old_vmap_warns(torch, x33, show):
    show(_inside(torch, "_vmap_internals").vmap(lambda a: a * 2)(x33))


def parts_of_jacobian(torch, functional, x3, x23, show, attempt):
    many, tensors = functional._as_tuple(x3, "inputs", "jacobian")
    show(many, tensors, functional._as_tuple((x3, x3), "inputs", "jacobian")[0], functional._as_tuple(x3))
    attempt(lambda: functional._as_tuple((x3, 1), "inputs", "jacobian"))
    show(functional._construct_standard_basis_for((x3, x23.float()), (3, 6)))
    attempt(lambda: functional._construct_standard_basis_for((), ()))
    x = x3.clone().requires_grad_()
    y = x * 2
    show(functional._grad_postprocess(((y,), (y, x)), False), functional._grad_postprocess((y,), True))
    for many in (True, False, (True, False), (False, True), (False, False)):
        show(functional._tuple_postprocess(((x3, 2), (x3, 3)), many))


def line_search(torch, f64, show):
    lbfgs = _inside(torch, "optim.lbfgs")
    for target in (1.0, 30.0, 1e4):

        def evaluate(x, t, d, target=target):
            at = x + t * d
            return float(((at - target) ** 4).sum() + at.sin().sum()), 4 * (at - target) ** 3 + at.cos()

        x = torch.tensor([0.5, -2.0, 0.1], dtype=f64)
        loss, grad = evaluate(x, 0, x)
        d = -grad / grad.abs().max()
        for options in ({}, {"c2": 0.1}, {"max_ls": 2}, {"tolerance_change": 0.5}):
            found, slope, t, calls = lbfgs._strong_wolfe(evaluate, x, 1.0, d, loss, grad, grad.dot(d), **options)
            show(found, slope, float(t), calls)


def least_point_of_a_cubic(torch, show):
    least = _inside(torch, "optim.lbfgs")._cubic_interpolate
    for points in ((0, 1.0, -1.0, 1.0, 0.5, 2.0), (1.0, 0.5, 2.0, 0, 1.0, -1.0), (0.0, 0.0, 1.0, 1.0, 5.0, 1.0)):
        x1, f1, g1, x2, f2, g2 = points
        points = x1, f1, torch.tensor(g1), x2, f2, torch.tensor(g2)
        show(float(least(*points)), float(least(*points, bounds=(0.4, 0.45))))


@own("nodes")
def weights_put_in_place_of_those_of_a_recurrent_layer(torch, nn, show):
    m = nn.GRU(2, 3)
    x = torch.ones(2, 1, 2)
    own = list(m._flat_weights)
    show(m._flat_weights_names, m(x)[0])
    fast = [(w * 2).detach().requires_grad_() for w in own]
    m._flat_weights = fast
    show([a is b for a, b in zip(m._flat_weights, fast, strict=True)], m(x)[0])
    m(x)[0].sum().backward()
    show([w.grad for w in fast], [p.grad for p in m.parameters()], list(m.state_dict()))
    m._flat_weights = [getattr(m, name) for name in m._flat_weights_names]
    show(m(x)[0])


@own("nodes")
def weight_drop(torch, nn, show):
    m = nn.LSTM(2, 3)
    raw = m.weight_hh_l0
    del m._parameters["weight_hh_l0"]
    m.register_parameter("weight_hh_l0_raw", nn.Parameter(raw.detach()))
    for factor in (2.0, 0.5):
        m.weight_hh_l0 = m.weight_hh_l0_raw * factor
        m.zero_grad()
        y = m(torch.ones(3, 1, 2))[0]
        y.sum().backward()
        show(y, m.weight_hh_l0_raw.grad, list(m.state_dict()))


@differs("refused when they are set: PyTorch fails at the next call")
def weights_of_a_wrong_number(torch, nn, attempt):
    m = nn.RNN(2, 3)

    def put(weights):
        m._flat_weights = weights
        return m(torch.ones(1, 1, 2))[0].shape

    attempt(lambda: put(None))
    attempt(lambda: put([]))
