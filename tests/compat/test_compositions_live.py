"""Random functions of a few ops under random compositions of transforms, on PyTorch and on retrograd: the numbers have to agree.

Left out of the pool are ops whose higher derivatives PyTorch 2.13 gets wrong when transforms are nested (layer_norm, det, slogdet, solve, cdist,
logcumsumexp): tests/func holds those to finite differences.
"""

import math
import random

import pytest

torch = pytest.importorskip("torch")

import retrograd  # noqa: E402

torch.set_num_threads(1)

# -- the functions --------------------------------------------------------------------------------


def written(t, a, i):
    c = a.clone()
    c[i:] = a[i:].cos()
    c[0].mul_(2)
    return c.sin_()


def through_a_view(t, a, i):
    c = a * 1
    part = c[i:]
    part.mul_(3).sin_()
    return c.add_(a) + part.sum()


def from_outside(t, a, i):
    c = t.zeros(a.shape, dtype=a.dtype)
    c.add_(a)
    c[i:].mul_(a[i:])
    return c.tanh()


def positive(t, a):
    return a.tanh() @ a.tanh().mT * 0.2 + 2 * t.eye(a.shape[0], dtype=a.dtype)


ONE = [  # (engine, a tensor)
    *(
        lambda t, a, name=name: getattr(t, name)(a)
        for name in ["sin", "cos", "tanh", "sigmoid", "atan", "erf", "square", "abs", "relu", "expm1", "asinh", "sinc"]
    ),
    *(
        lambda t, a, name=name: getattr(t.nn.functional, name)(a)
        for name in ["gelu", "silu", "softplus", "elu", "leaky_relu", "hardtanh", "mish", "softsign", "logsigmoid", "hardswish"]
    ),
    lambda t, a: (a * a + 1).sqrt(),
    lambda t, a: 1 / (a * a + 2),
    lambda t, a: (a.abs() + 1) ** 1.5,
    lambda t, a: (a * a + 1).pow(a.sin()),
    lambda t, a: a.unsqueeze(0).expand(2, *a.shape),
    lambda t, a: a.reshape(-1),
    lambda t, a: a.mT if a.dim() > 1 else a.flip(0),
    lambda t, a: t.where(a > 0, a, a * 0.1),
    lambda t, a: a.masked_fill(a > 0.3, 0.25),
    lambda t, a: t.nn.functional.mse_loss(a, a.sin()),
    lambda t, a: t.nn.functional.linear(a, t.linspace(-1, 1, 2 * a.shape[-1], dtype=a.dtype).reshape(2, -1)),
    lambda t, a: t.nn.functional.cross_entropy(a, a.cos().softmax(-1), reduction="none"),
    lambda t, a: t.linalg.inv(positive(t, a)),
    lambda t, a: t.linalg.cholesky(positive(t, a)),
    lambda t, a: t.linalg.eigvalsh(positive(t, a) + t.diag(t.arange(a.shape[0], dtype=a.dtype))),
    lambda t, a: t.linalg.svdvals(positive(t, a) + t.diag(t.arange(a.shape[0], dtype=a.dtype))),
    lambda t, a: t.linalg.vector_norm(a),
    lambda t, a: a.std(),
    lambda t, a: a.prod(),
]
ALONG = [  # (engine, a tensor, a dimension)
    *(
        lambda t, a, d, name=name: getattr(t, name)(a, d)
        for name in ["softmax", "log_softmax", "logsumexp", "cumsum", "cumprod", "amax", "mean", "sum", "prod", "var"]
    ),
    *(lambda t, a, d, name=name: getattr(t, name)(a, d)[0] for name in ["sort", "max", "median", "cummax", "std_mean"]),
    lambda t, a, d: sum(t.aminmax(a, dim=d)),
    lambda t, a, d: t.linalg.vector_norm(a, 3, dim=d),
    lambda t, a, d: t.topk(a, 2, d)[0],
    lambda t, a, d: t.roll(a, 1, d),
    lambda t, a, d: t.diff(a, dim=d),
    lambda t, a, d: a.select(d, 0) * a.select(d, -1),
    lambda t, a, d: t.index_select(a, d, t.tensor([1, 0, 1])),
    lambda t, a, d: t.index_add(a, d, t.arange(a.shape[d]), a.sin(), alpha=2),
    lambda t, a, d: t.nn.functional.normalize(a, dim=d),
    lambda t, a, d: written(t, a, d % 2),
    lambda t, a, d: through_a_view(t, a, d % 2),
    lambda t, a, d: from_outside(t, a, d % 2),
]
TWO = [  # (engine, two tensors)
    *(
        lambda t, a, b, name=name: getattr(t, name)(a, b)
        for name in ["add", "sub", "mul", "maximum", "logaddexp", "outer", "kron", "matmul"]
    ),
    lambda t, a, b: a / (b * b + 1),
    lambda t, a, b: t.atan2(a, b * b + 1),
    lambda t, a, b: t.fmod(a, b * b + 1),
    lambda t, a, b: t.where(a > b, a * b, a - b),
    lambda t, a, b: t.lerp(a, b, b.sigmoid()),
    lambda t, a, b: t.addcdiv(a, a, b * b + 1, value=0.5),
    lambda t, a, b: t.stack([a, b], -1),
    lambda t, a, b: t.cat([a, b, a]),
    lambda t, a, b: a.clone().mul_(b).add_(b, alpha=2),
]


def inputs(t):
    x, w = t.tensor([0.31, -0.77, 1.21], dtype=t.float64), t.tensor([[0.12, -0.55, 0.9], [1.3, 0.44, -1.1]], dtype=t.float64)
    return x, w


class Program:
    """Steps that work on values made before, chosen by trying them on PyTorch."""

    def __init__(self, draw, length):
        self.steps = []
        values = list(inputs(torch))
        while len(self.steps) < length:
            step = self.step(draw, len(values))
            try:
                value = self.apply(torch, step, values)
            except (RuntimeError, IndexError):
                continue
            if 0 < value.numel() <= 24 and value.dim() <= 3 and value.isfinite().all() and value.abs().max() < 50:
                self.steps.append(step)
                values.append(value)

    @staticmethod
    def step(draw, known):
        kind = draw.choice((ONE, ALONG, ALONG, TWO))
        return kind, draw.choice(kind), draw.randrange(known), draw.randrange(known), draw.randrange(-2, 2)

    @staticmethod
    def apply(t, step, values):
        kind, function, first, second, dim = step
        rest = {id(ONE): (), id(ALONG): (dim,), id(TWO): (values[second],)}[id(kind)]
        return function(t, values[first], *rest)

    def function(self, t):
        def run(x, w):
            values = [x, w]
            for step in self.steps:
                values.append(self.apply(t, step, values))
            others = sum(value.sum() * (0.1 + 0.01 * i) for i, value in enumerate(values[:-1]))
            return values[-1].tanh() + (others * 0.1).tanh()

        return run


# -- the transforms: each makes a function of (x, w) of one ---------------------------------------


def small(t, value):
    """One tensor with few elements, so that compositions stay small."""
    if isinstance(value, tuple):
        value = t.cat([small(t, v).reshape(-1) for v in value])
    if value.numel() > 12:
        flat = value.reshape(-1)
        value = t.stack([flat[i::5].sum() for i in range(5)])
    return value


def grad_and_value(t, f):
    def run(x, w):
        gradient, value = t.func.grad_and_value(lambda x: f(x, w).sum())(x)
        return gradient * value

    return run


def vjp(t, f):
    def run(x, w):
        output, back = t.func.vjp(f, x, w)
        return t.func.vmap(back)(t.stack([output.cos(), t.ones_like(output)]))

    return run


TRANSFORMS = {
    "grad": lambda t, f: lambda x, w: t.func.grad(lambda x, w: f(x, w).sum(), argnums=(1, 0))(x, w),
    "grad_and_value": grad_and_value,
    "vjp": vjp,
    "jvp": lambda t, f: lambda x, w: sum(t.func.jvp(f, (x, w), (x.cos(), w.sin()))),
    "jvp of w": lambda t, f: lambda x, w: t.func.jvp(lambda w: f(x, w), (w,), (t.ones_like(w),))[1],
    "jacrev": lambda t, f: t.func.jacrev(f, argnums=(0, 1)),
    "jacfwd": lambda t, f: t.func.jacfwd(f, argnums=1),
    "hessian": lambda t, f: t.func.hessian(lambda x, w: f(x, w).sum()),
    "vmap": lambda t, f: lambda x, w: t.func.vmap(f, in_dims=(1, 2))(t.stack([x, x.sin()], 1), t.stack([w, w.cos()], 2)),
    "vmap of x": lambda t, f: lambda x, w: t.func.vmap(f, in_dims=(0, None), out_dims=-1)(t.stack([x, x.sin()]), w),
    "vmap in chunks": lambda t, f: lambda x, w: t.func.vmap(f, in_dims=(None, -2), chunk_size=2)(x, t.stack([w, w.cos(), w * 2], 1)),
}


def composed(t, names, f):
    for name in names:
        f = (lambda g: lambda x, w: small(t, g(x, w)))(TRANSFORMS[name](t, f))
    return f


def numbers(t, names, program, differentiate):
    f = composed(t, names, program.function(t))
    x, w = inputs(t)
    if not differentiate:
        return small(t, f(x, w)).reshape(-1).tolist()
    x.requires_grad_()
    w.requires_grad_()
    output = small(t, f(x, w))
    gradients = t.autograd.grad(output.sum(), (x, w), materialize_grads=True) if output.requires_grad else (x, w)
    return [*output.detach().reshape(-1).tolist(), *small(t, tuple(g.detach() for g in gradients)).tolist()]


@pytest.mark.parametrize("seed", range(10))
def test_compositions(seed):
    """60 of them each; what PyTorch refuses, or has no finite numbers for, is skipped."""
    draw = random.Random(seed)
    compared = 0
    for case in range(60):
        program = Program(draw, draw.randint(1, 5))
        names, differentiate = [draw.choice(list(TRANSFORMS)) for _ in range(draw.choice((1, 2, 2, 3)))], draw.random() < 0.4
        try:
            expected = numbers(torch, names, program, differentiate)
        except (RuntimeError, IndexError):
            continue
        if not all(map(math.isfinite, expected)):
            continue
        try:
            found = numbers(retrograd, names, program, differentiate)
        except RuntimeError as error:
            if "not made from the tensors of this vmap" in str(error):  # docs/differences.md
                continue
            raise
        where = f"seed {seed}, case {case}: {names}, differentiated again: {differentiate}"
        compared += 1
        assert found == pytest.approx(expected, rel=1e-7, abs=1e-7), where
    assert compared > 40
