"""Transforms inside each other, held to finite differences: every order of forward and reverse mode, up to the third derivative."""

import itertools

import pytest

import retrograd as torch
from retrograd.func import grad, jacfwd, jacrev, jvp, vmap

X = (0.31, -0.77, 1.21, 0.6)


def point():
    return torch.tensor(X, dtype=torch.float64)


def square(x):
    return x.reshape(2, 2)


def positive(x):
    return square(x).tanh() @ square(x).tanh().mT * 0.2 + 2 * torch.eye(2, dtype=torch.float64)


def written_from_outside(x):
    q = torch.zeros(4, dtype=torch.float64)
    q.add_(x)
    q.sin_()
    q[1:].mul_(x[:3])
    return q


def written_copy(x):
    q = x[:2].clone()
    q.mul_(x[2:])
    q[1:].exp_()
    return q * x[0]


FUNCTIONS = {
    "var": lambda x: torch.var(x * x, 0),
    "cummax": lambda x: torch.cummax(x * x, 0)[0].sin(),
    "aminmax": lambda x: sum(torch.aminmax(x * x, dim=0)).sin(),
    "median": lambda x: torch.median(square(x * x), 0)[0].sin(),
    "cdist": lambda x: torch.cdist(square(x), square(x).cos() * 2 + 1),
    "cholesky_solve": lambda x: torch.cholesky_solve(square(x), torch.linalg.cholesky(positive(x))),
    "eigvalsh": lambda x: torch.linalg.eigvalsh(positive(x) + torch.diag(torch.arange(2.0, dtype=torch.float64))).sin(),
    "svdvals": lambda x: torch.linalg.svdvals(positive(x) + torch.diag(torch.arange(2.0, dtype=torch.float64))).sin(),
    "layer_norm": lambda x: torch.nn.functional.layer_norm(x * x, (4,), eps=0.1) ** 2,
    "solve": lambda x: torch.linalg.solve(positive(x), square(x)),
    "det": lambda x: torch.linalg.det(positive(x)).sin(),
    "slogdet": lambda x: torch.linalg.slogdet(positive(x))[1].sin(),
    "logcumsumexp": lambda x: torch.logcumsumexp(x * x, 0).sin(),
    "writes to a copy": written_copy,
}
MODES = {"reverse": jacrev, "forward": jacfwd}


def finite_difference(f, step=1e-5):
    columns = []
    for i in range(len(X)):
        e = torch.zeros(4, dtype=torch.float64)
        e[i] = step
        columns.append((f(point() + e) - f(point() - e)) / (2 * step))
    return torch.stack(columns, -1)


def nested(name, modes):
    f = lambda x: FUNCTIONS[name](x).sum().sin()
    for mode in reversed(modes):
        f = MODES[mode](f)
    return f


@pytest.mark.parametrize("modes", [m for n in (1, 2, 3) for m in itertools.product(MODES, repeat=n)], ids="-".join)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_orders(name, modes):
    expected = finite_difference(nested(name, modes[1:]))
    torch.testing.assert_close(nested(name, modes)(point()), expected, rtol=1e-4, atol=1e-4 * max(1.0, expected.abs().max().item()))


@pytest.mark.parametrize("modes", [m for n in (1, 2) for m in itertools.product(MODES, repeat=n)], ids="-".join)
def test_writes_to_a_tensor_from_outside(modes):
    f = lambda x: written_from_outside(x).sum().sin()
    g = lambda x: (x.sin() * torch.cat([torch.ones(1, dtype=torch.float64), x[:3]])).sum().sin()
    for mode in reversed(modes):
        f, g = MODES[mode](f), MODES[mode](g)
    torch.testing.assert_close(f(point()), g(point()))


def test_reverse_over_vmap_of_jvp():
    """The history of what vmap maps over goes through rules that are backward rules transposed."""
    x = point().requires_grad_()
    v = torch.tensor([[1.0, 2, 3, 4], [2, 4, 6, 8]], dtype=torch.float64)
    rows = vmap(lambda v: jvp(lambda x: torch.var(x, 0), (x,), (v,))[1])(v)
    (found,) = torch.autograd.grad(rows[0], x)
    torch.testing.assert_close(found, 2 * (v[0] - v[0].mean()) / 3)


def test_tangents_of_rules_without_history_have_none():
    assert not jvp(lambda x: torch.var(x, 0), (point(),), (point(),))[1].requires_grad
    assert not vmap(lambda v: jvp(lambda x: torch.var(x, 0), (point(),), (v,))[1])(torch.eye(4, dtype=torch.float64)).requires_grad


def test_write_through_a_view_inside_vmap_is_recorded_once():
    x, w = point(), torch.tensor([[1.0, 2, 3, 4], [0.5, 1, -1, 2]], dtype=torch.float64)

    def f(x, w):
        q = torch.zeros(4, dtype=torch.float64)
        q.add_(x)
        q[1:].mul_(x[1:])
        return (q * w).sum()

    expected = w * torch.cat([torch.ones(1, dtype=torch.float64), 2 * x[1:]])
    torch.testing.assert_close(vmap(lambda w: grad(f)(x, w))(w).detach(), expected)


def test_a_write_that_two_transforms_record():
    x, w = point().requires_grad_(), torch.ones(2, 4, dtype=torch.float64)

    def f(y, w):
        q = torch.zeros(4, dtype=torch.float64)
        q.add_(y)
        return (q * w * y).sum()

    found = vmap(lambda w: grad(f)(x, w))(w)
    torch.testing.assert_close(found.detach(), 2 * x.detach().expand(2, 4))
    found.sum().backward()
    torch.testing.assert_close(x.grad, torch.full((4,), 4.0, dtype=torch.float64))


def test_samples_with_gaps():
    """A view of a sample that lies with stride 2 in memory, written in place under forward over reverse."""
    x = point()[:3]

    def f(x):
        c = x * 1
        c[1:].mul_(3).sin_()
        return (c * c.sum()).sum()

    whole = vmap(jacfwd(jacrev(f)), in_dims=1)(torch.stack([x, x.sin()], 1))
    torch.testing.assert_close(whole, torch.stack([jacrev(jacrev(f))(x), jacrev(jacrev(f))(x.sin())]))


def test_control_flow_on_a_sample():
    with pytest.raises(RuntimeError, match="attempting to use a Tensor in some data-dependent control flow"):
        vmap(lambda x: x if x.sum() > 0 else -x)(point())
