"""checkpoint among transforms: programs made at random give what they give without checkpoint."""

import random

import pytest

import retrograd as torch
from retrograd.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from retrograd.testing import assert_close
from retrograd.utils.checkpoint import checkpoint

PROGRAMS, GROUPS = 400, 8
WEIGHT = torch.tensor([[0.3, -0.5, 0.2], [0.7, 0.1, -0.4], [-0.2, 0.6, 0.5]], dtype=torch.float64)


def written(x):
    y = x.sin()
    y[1:].mul_(x[:2])
    y += x.exp()
    return y


# Functions of a vector that give a vector.
STEPS = {
    "outer": lambda x: torch.outer(x, x) @ x,
    "linear": lambda x: torch.nn.functional.linear(x, WEIGHT, WEIGHT[0]).tanh(),
    "mm": lambda x: (WEIGHT @ x.unsqueeze(1)).squeeze(1).sin(),
    "written": written,
    "softmax": lambda x: x.softmax(0) * x,
    "prod": lambda x: x.prod() * x.cos(),
    "norm": lambda x: torch.nn.functional.layer_norm(x, (3,), WEIGHT[1], WEIGHT[2]),
    "index": lambda x: x[torch.tensor([2, 0, 0])] * x.exp(),
    "cat": lambda x: torch.cat([x[:1] ** 2, x[1:] * 3]) + x.cumsum(0),
    "where": lambda x: torch.where(x > 0, x.sin(), x.exp()),
    "batched": lambda x: torch.matmul(x.expand(2, 2, 3), WEIGHT).sum((0, 1)),
    "functional": lambda x: functional_call(LAYER, {"weight": WEIGHT * x, "bias": x}, (x.sin(),)),
}
LAYER = torch.nn.Linear(3, 3, dtype=torch.float64)


def by_autograd(f):
    """A gradient that the function takes by itself."""

    def slope(x):
        y = f(x).sum()
        return torch.autograd.grad(y, x, create_graph=True, materialize_grads=True)[0] if y.requires_grad and x.requires_grad else x * 0

    return slope


# What makes another function of a vector of one.
WRAPPERS = {
    "grad": lambda f: grad(lambda x: f(x).sum()),
    "vjp": lambda f: lambda x: vjp(f, x)[1](x.cos())[0],
    "jvp": lambda f: lambda x: jvp(f, (x,), (x.cos(),))[1],
    "jacrev": lambda f: lambda x: jacrev(f)(x) @ x,
    "rows": lambda f: lambda x: jacrev(f, chunk_size=1)(x).sum(0),
    "jacfwd": lambda f: lambda x: jacfwd(f)(x) @ x,
    "hessian": lambda f: lambda x: hessian(lambda y: f(y).sum())(x) @ x,
    "vmap": lambda f: lambda x: vmap(f)(torch.stack([x, x.sin()])).sum(0),
    "vmap, another": lambda f: lambda x: vmap(lambda y: f(x * y))(torch.stack([x, x.cos()])).mean(0),
    "vjp of vmap": lambda f: (
        lambda x: vjp(lambda y: vmap(f, out_dims=1)(y), torch.stack([x, x.cos()]))[1](torch.ones_like(WEIGHT[:, :2]))[0].sum(0)
    ),
    "autograd": by_autograd,
}


def build(rng, checkpoints):
    """The text of a program, and the function, with or without its checkpoints."""

    def checked(f, early_stop, context):
        if not checkpoints:
            return f
        return lambda x: checkpoint(f, x, use_reentrant=False, early_stop=early_stop, determinism_check=context)

    def chain(fs):
        def run(x):
            for f in fs:
                x = f(x)
            return x

        return run

    def part(depth):
        names, fs = [], []
        for _ in range(rng.choice([1, 1, 2])):
            if depth and rng.random() < 0.6:
                kind = rng.choice(sorted(WRAPPERS))
                inner, f = part(depth - 1)
                name, f = f"{kind}({inner})", WRAPPERS[kind](f)
            else:
                name = rng.choice(sorted(STEPS))
                f = STEPS[name]
            if rng.random() < 0.5:
                name, f = f"checkpoint({name})", checked(f, rng.random() < 0.7, rng.choice(["default", "none"]))
            names.append(name)
            fs.append(f)
        return " > ".join(names), chain(fs)

    name, f = part(3)
    kind = rng.choice(sorted(WRAPPERS))
    name, f = f"{kind}(checkpoint({name}))", WRAPPERS[kind](checked(f, True, "default"))
    return name, f


def outcome(f, outside):
    x = torch.tensor([0.3, -0.6, 0.9], dtype=torch.float64, requires_grad=outside)
    y = f(x)
    if not (outside and y.requires_grad):
        return [y.detach()]
    return [y.detach(), *torch.autograd.grad(y.sum(), x, retain_graph=True), *torch.autograd.grad(y, x, torch.ones_like(y) * 3)]


def compare(seed):
    name, plain = build(random.Random(seed), checkpoints=False)
    _, checked = build(random.Random(seed), checkpoints=True)
    outside = seed % 2 == 0
    try:
        expected = outcome(plain, outside)
    except NotImplementedError:
        return False
    found = outcome(checked, outside)
    for a, b in zip(found, expected, strict=True):
        scale = max(1.0, b.abs().max().item())
        assert_close(a / scale, b / scale, rtol=0, atol=1e-9, equal_nan=True, msg=lambda text: f"{seed}: {name}\n{text}")
    return True


@pytest.mark.told("nan_origin", why="some overflow", sometimes=True)
@pytest.mark.parametrize("group", range(GROUPS))
def test_random_programs(group):
    compared = [compare(seed) for seed in range(group, PROGRAMS, GROUPS)]
    assert sum(compared) > 0.9 * len(compared)
