"""nn.utils.parametrize: parameters that are computed from others."""

import copy
import pickle


def _kinds(nn):
    class Symmetric(nn.Module):
        def forward(self, X):
            return X.triu() + X.triu(1).mT

        def right_inverse(self, A):
            return A.triu()

    class Twice(nn.Module):
        def forward(self, X):
            return X * 2

    class Sum(nn.Module):
        def forward(self, a, b):
            return a + b

        def right_inverse(self, X):
            return X / 4, X * 3 / 4

    return Symmetric, Twice, Sum


def _linear(torch, nn, bias=True):
    m = nn.Linear(3, 3, bias=bias)
    with torch.no_grad():
        m.weight.copy_(torch.arange(9.0).reshape(3, 3))
    return m


def registering(torch, nn, show):
    Symmetric, Twice, _ = _kinds(nn)
    P = nn.utils.parametrize
    m = _linear(torch, nn, bias=False)
    weight = m.weight
    show(P.register_parametrization(m, "weight", Symmetric()) is m, m.weight, m.parametrizations.weight.original is weight)
    show(repr(m), list(m.state_dict()), [n for n, _ in m.named_parameters()])
    show(type(m), type(m).__bases__, isinstance(m, nn.Linear), P.type_before_parametrizations(m))
    P.register_parametrization(m, "weight", Twice())
    show(m.weight, len(m.parametrizations.weight), m.parametrizations.weight[1])
    y = m(torch.ones(1, 3))
    y.sum().backward()
    show(y, weight.grad)
    show(P.is_parametrized(m), P.is_parametrized(m, "weight"), P.is_parametrized(m, "bias"), P.is_parametrized(nn.Linear(1, 1)))


def assigning(torch, nn, show, attempt, kind):
    Symmetric, Twice, Sum = _kinds(nn)
    P = nn.utils.parametrize
    m = P.register_parametrization(_linear(torch, nn), "weight", Symmetric())
    original = m.parametrizations.weight.original
    m.weight = torch.full((3, 3), 2.0)
    show(m.weight, original, m.parametrizations.weight.original is original)
    attempt(lambda: setattr(m, "weight", torch.ones(3, 3, dtype=torch.float64)))
    m = P.register_parametrization(_linear(torch, nn), "weight", Sum())
    m.weight = torch.eye(3) * 4
    show(m.parametrizations.weight.original0, m.parametrizations.weight.original1, m.parametrizations.weight.ntensors)
    m.parametrizations.weight[0].right_inverse = lambda X: [X] * 3
    attempt(lambda: setattr(m, "weight", torch.eye(3)))
    m.parametrizations.weight[0].right_inverse = lambda X: X
    attempt(lambda: setattr(m, "weight", torch.eye(3)))
    m = P.register_parametrization(_linear(torch, nn), "weight", Twice())
    attempt(lambda: setattr(m, "weight", torch.eye(3)))
    kind(lambda: delattr(m, "weight"))


def several_originals(torch, nn, show, attempt):
    _, _, Sum = _kinds(nn)
    P = nn.utils.parametrize
    m = P.register_parametrization(_linear(torch, nn), "weight", Sum())
    show(list(m.state_dict()), m.parametrizations.weight.is_tensor, m.weight)
    m(torch.ones(1, 3)).sum().backward()
    show(m.parametrizations.weight.original0.grad)
    attempt(lambda: P.remove_parametrizations(m, "weight", leave_parametrized=False))
    show(P.remove_parametrizations(m, "weight"), m.weight, type(m.weight))
    m = _linear(torch, nn)
    m.weight.requires_grad_(False)
    P.register_parametrization(m, "weight", Sum())
    show([p.requires_grad for p in m.parameters()])


def removing(torch, nn, show, attempt):
    Symmetric, Twice, _ = _kinds(nn)
    P = nn.utils.parametrize
    for leave in (True, False):
        m = _linear(torch, nn)
        weight = m.weight
        P.register_parametrization(m, "weight", Symmetric())
        P.register_parametrization(m, "bias", nn.Identity())
        P.remove_parametrizations(m, "weight", leave)
        show(m.weight, m.weight is weight, type(m), list(m.state_dict()))
        P.remove_parametrizations(m, "bias")
        show(type(m) is nn.Linear, hasattr(m, "parametrizations"), list(m.state_dict()))
        attempt(lambda: P.remove_parametrizations(m, "weight"))
        attempt(lambda: P.remove_parametrizations(nn.Linear(2, 2), "foo"))


def buffers(torch, nn, show):
    Symmetric, _, _ = _kinds(nn)
    P = nn.utils.parametrize

    class Holder(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", torch.arange(4.0).reshape(2, 2))

    m = P.register_parametrization(Holder(), "table", Symmetric())
    show(m.state_dict(), list(m.parameters()), m.table)
    P.remove_parametrizations(m, "table")
    show(m._buffers, m.state_dict())


def caching(torch, nn, show):
    P = nn.utils.parametrize
    calls = []

    class Counting(nn.Module):
        def forward(self, X):
            calls.append(1)
            return X + 0

    m = P.register_parametrization(_linear(torch, nn), "weight", Counting())
    calls.clear()
    with P.cached():
        first = m.weight
        with P.cached():
            show(m.weight is first, len(calls))
        show(m.weight is first, len(calls))
    show(m.weight is first, len(calls))


def copying(torch, nn, show, attempt):
    Symmetric, _, _ = _kinds(nn)
    P = nn.utils.parametrize
    m = P.register_parametrization(_linear(torch, nn), "weight", Symmetric())
    other = copy.deepcopy(m)
    with torch.no_grad():
        other.parametrizations.weight.original.fill_(1.0)
    show(m.weight, other.weight, type(other), P.is_parametrized(other, "weight"))
    attempt(lambda: pickle.dumps(m))
    state = m.state_dict()
    other.load_state_dict(state)
    show(other.weight)
    show(m.double().weight.dtype, m.eval().parametrizations.weight[0].training)


def transferring(torch, nn, show, attempt):
    Symmetric, _, Sum = _kinds(nn)
    P = nn.utils.parametrize
    m = _linear(torch, nn)
    P.register_parametrization(m, "weight", Symmetric())
    other = nn.Linear(3, 3)
    show(P.transfer_parametrizations_and_params(m, other) is other, other.weight, type(other))
    show(P.is_parametrized(P.transfer_parametrizations_and_params(nn.Linear(3, 3), nn.Linear(3, 3))))
    attempt(lambda: P.transfer_parametrizations_and_params(m, nn.Linear(3, 3), "bias"))


def parametrization_lists(torch, nn, show, attempt):
    Symmetric, Twice, Sum = _kinds(nn)
    L = nn.utils.parametrize.ParametrizationList
    attempt(lambda: L([], torch.ones(3)))
    made = L([Symmetric()], torch.ones(2, 2))
    show(made, made(), made.original, made.unsafe, list(made.state_dict()))
    made = L([Sum(), Twice()], nn.Parameter(torch.ones(2, 2)), unsafe=True)
    show(next(iter(made._parameters)), made.is_tensor)
    attempt(lambda: L([Twice()], torch.ones(2)).right_inverse(torch.ones(2)))


def refusals(torch, nn, attempt):
    P = nn.utils.parametrize
    Symmetric, Twice, Sum = _kinds(nn)

    def kind(forward, inverse=None):
        members = {"forward": forward}
        if inverse is not None:
            members["right_inverse"] = inverse
        return type("Kind", (nn.Module,), members)()

    def fails(self, X):
        raise NotImplementedError

    for made in (
        kind(lambda self, X: X[:1]),
        kind(lambda self, X: X.double()),
        kind(lambda self, X: 3),
        kind(lambda self, a, b: a + b, lambda self, X: 5),
        kind(lambda self, a, b: a + b, lambda self, X: (X, 3)),
        kind(lambda self, X: X.float(), lambda self, X: X.double()),
        kind(lambda self, X: X.view(3, 3), lambda self, X: X.reshape(-1)),
        kind(lambda self, X: X, fails),
        Sum(),
    ):
        for unsafe in (False, True):
            attempt(lambda: P.register_parametrization(nn.Linear(3, 3), "weight", made, unsafe=unsafe) is not None)
        m = P.register_parametrization(nn.Linear(3, 3), "weight", Symmetric())
        attempt(lambda: P.register_parametrization(m, "weight", made) is not None)
    attempt(lambda: P.register_parametrization(nn.Linear(3, 3), "foo", Symmetric()))
    attempt(lambda: P.register_parametrization(nn.Linear(3, 3), "weight", lambda X: X))
