"""Random functions, second derivatives of them by every route, under everything that may be active meanwhile.

The reference is plain double backward in float64 with nothing active. A route is a nesting of transforms, a function of `autograd.functional`, or
levels of forward mode by hand; a setting is a saved-tensor hook, a function mode, a checkpoint around the function, anomaly mode,
`inference_mode`, or several of them. `python -m tests.func.test_random_nesting FIRST COUNT` runs more of them than the suite does.
"""

import contextlib
import random
import sys
import warnings

import pytest

import retrograd as torch
from retrograd.autograd import forward_ad, functional as AF
from retrograd.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap
from retrograd.utils.checkpoint import checkpoint

N = 3
PROGRAMS = 240
BATCHES = 12


# ---- functions ----


class SaveInput(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x * x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x * x

    @staticmethod
    def jvp(ctx, t):
        (x,) = ctx.saved_tensors
        return t * 3 * x * x


class SaveOutput(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return (x * 0.5).exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y * 0.5

    @staticmethod
    def jvp(ctx, t):
        (y,) = ctx.saved_tensors
        return t * y * 0.5


def written(x, y):
    z = x.clone()
    z.mul_(y)
    z[1:].add_(y[:-1].sin())
    return z.tanh_()


UNARY = {
    "sin": lambda x: x.sin(),
    "exp": lambda x: (x * 0.3).exp(),
    "tanh": lambda x: x.tanh(),
    "sigmoid": lambda x: x.sigmoid(),
    "softplus": torch.nn.functional.softplus,
    "square": lambda x: x**2,
    "sqrt": lambda x: (x * x + 1).sqrt(),
    "reciprocal": lambda x: (x * x + 1).reciprocal(),
    "log": lambda x: (x * x + 0.5).log(),
    "cumsum": lambda x: x.cumsum(0),
    "cumprod": lambda x: x.tanh().cumprod(0),
    "softmax": lambda x: x.softmax(0),
    "logsumexp": lambda x: x + x.logsumexp(0),
    "prod": lambda x: x * x.tanh().prod(),
    "norm": lambda x: x / (x * x).sum().add(1).sqrt(),
    "var": lambda x: x * x.var(),
    "layer_norm": lambda x: torch.nn.functional.layer_norm(x, (N,), eps=0.1),
    "flip": lambda x: x.flip(0) * x,
    "roll": lambda x: x.roll(1, 0) * x.cos(),
    "index": lambda x: x[[2, 0, 0]] * x,
    "halves": lambda x: torch.cat([x[:1].sin(), x[1:] * x[0]]),
    "outer": lambda x: torch.outer(x, x.sin()) @ x,
    "expand": lambda x: x.expand(2, N).sum(0) * x.sum(),
    "gelu": torch.nn.functional.gelu,
    "input saved": SaveInput.apply,
    "output saved": SaveOutput.apply,
}
BINARY = {
    "add": lambda x, y: x + y,
    "mul": lambda x, y: x * y,
    "sub": lambda x, y: x - 2 * y,
    "div": lambda x, y: x / (y * y + 1),
    "where": lambda x, y: torch.where(torch.tensor([True, False, True]), x * y, y.sin()),
    "stack": lambda x, y: torch.stack([x, y]).prod(0),
    "einsum": lambda x, y: torch.einsum("i,j,j->i", x, y, y),
    "atan2": lambda x, y: torch.atan2(x, y * y + 1),
    "written": written,
    "baddbmm": lambda x, y: (x.reshape(1, N, 1) @ y.reshape(1, 1, N)).sum((0, 1)),
}


def function(rng):
    """A function of R^3 into R and its text: a few lines over what the lines before made."""
    lines = []
    for _ in range(rng.randint(2, 5)):
        if rng.random() < 0.5:
            lines.append((rng.choice(list(UNARY)), -1 if rng.random() < 0.6 else rng.randrange(len(lines) + 1)))
        else:
            lines.append((rng.choice(list(BINARY)), -1, rng.randrange(len(lines) + 1)))

    def run(x):
        values = [x]
        for name, *operands in lines:
            given = [values[i] for i in operands]
            values.append((UNARY | BINARY)[name](*given))
        return (values[-1] * torch.tensor([0.7, -1.1, 0.4], dtype=torch.float64)).sum().sin() + (values[-1] * x).sum()

    return run, lines


# ---- routes to the Hessian ----


def basis():
    return torch.eye(N, dtype=torch.float64)


def by_levels(f, x):
    rows = []
    for v in basis():
        with forward_ad.dual_level():
            d = forward_ad.make_dual(x.detach().requires_grad_(), v)
            (g,) = torch.autograd.grad(f(d), d, create_graph=True)
            rows.append(forward_ad.unpack_dual(g).tangent.detach())
    return torch.stack(rows, -1)


def by_double_backward(f, x):
    x = x.detach().requires_grad_()
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.stack([torch.autograd.grad(g, x, v, retain_graph=True)[0] for v in basis()])


def by_accumulation(f, x):
    """Gradients of gradients through .grad, each in a graph of its own."""
    rows = []
    for v in basis():
        leaf = x.detach().requires_grad_()
        (g,) = torch.autograd.grad(f(leaf), leaf, create_graph=True)
        (g * v).sum().backward()
        rows.append(leaf.grad)
    return torch.stack(rows)


def by_linearize(f, x):
    _, push = linearize(grad(f), x)
    return torch.stack([push(v) for v in basis()], -1)


def by_vjp(f, x):
    _, pull = vjp(grad(f), x)
    return torch.stack([pull(v)[0] for v in basis()])


def polarised(f, x):
    """From second derivatives along directions, forward over forward."""
    along = lambda v: jvp(lambda x: jvp(f, (x,), (v,))[1], (x,), (v,))[1]
    e = basis()
    return torch.stack([torch.stack([(along(e[i] + e[j]) - along(e[i] - e[j])) / 4 for j in range(N)]) for i in range(N)])


def beside(x):
    """The point behind another one, as a batch."""
    return torch.stack([x * 2, x])


ROUTES = {
    "hessian": lambda f, x: hessian(f)(x),
    "jacrev(grad)": lambda f, x: jacrev(grad(f))(x),
    "jacfwd(grad)": lambda f, x: jacfwd(grad(f))(x),
    "jacrev(jacrev)": lambda f, x: jacrev(jacrev(f))(x),
    "jacrev(jacfwd)": lambda f, x: jacrev(jacfwd(f))(x),
    "jacfwd(jacfwd)": lambda f, x: jacfwd(jacfwd(f))(x),
    "vmap(jvp(grad))": lambda f, x: vmap(lambda v: jvp(grad(f), (x,), (v,))[1], out_dims=-1)(basis()),
    "vmap(vjp(grad))": lambda f, x: vmap(lambda v: vjp(grad(f), x)[1](v)[0])(basis()),
    "grad(grad . v)": lambda f, x: torch.stack([grad(lambda x, v=v: grad(f)(x) @ v)(x) for v in basis()]),
    "grad(jvp)": lambda f, x: torch.stack([grad(lambda x, v=v: jvp(f, (x,), (v,))[1])(x) for v in basis()]),
    "jvp(jvp)": polarised,
    "linearize(grad)": by_linearize,
    "vjp(grad)": by_vjp,
    "vmap(hessian)": lambda f, x: vmap(hessian(f))(beside(x))[1],
    "vmap(jacrev(jacrev))": lambda f, x: vmap(jacrev(jacrev(f)))(beside(x))[1],
    "vmap(jacfwd(jacfwd))": lambda f, x: vmap(jacfwd(jacfwd(f)))(beside(x))[1],
    "levels": by_levels,
    "double backward": by_double_backward,
    "accumulation": by_accumulation,
    "functional.hessian": lambda f, x: AF.hessian(f, x),
    "functional.hessian, vectorized": lambda f, x: AF.hessian(f, x, vectorize=True),
    "functional.hessian, forward": lambda f, x: AF.hessian(f, x, vectorize=True, outer_jacobian_strategy="forward-mode"),
    "functional.hvp": lambda f, x: torch.stack([AF.hvp(f, x, v)[1] for v in basis()], -1),
    "functional.vhp": lambda f, x: torch.stack([AF.vhp(f, x, v)[1] for v in basis()]),
}


# ---- what may be active ----


class Passing(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def anomaly():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.detect_anomaly():
            yield


hooks = torch.autograd.graph.saved_tensors_hooks
SETTINGS = {
    "identity hooks": lambda: hooks(lambda t: t, lambda t: t),
    "hooks that clone": lambda: hooks(lambda t: t.clone(), lambda t: t),
    "hooks that clone late": lambda: hooks(lambda t: t, lambda t: t.clone()),
    "hooks that box": lambda: hooks(lambda t: [t], lambda box: box[0]),
    "save_on_cpu": torch.autograd.graph.save_on_cpu,
    "function mode": Passing,
    "two function modes": lambda: stack(Passing(), Passing()),
    "anomaly mode": anomaly,
    "inference mode": torch.inference_mode,
    "no_grad": torch.no_grad,
    "mutation allowed": torch.autograd.graph.allow_mutation_on_saved_tensors,
}
RECORDING = {"levels", "double backward", "accumulation"}  # autograd itself, which modes switch off


@contextlib.contextmanager
def stack(*contexts):
    with contextlib.ExitStack() as entered:
        for c in contexts:
            entered.enter_context(c)
        yield


def checkpointed(f, **options):
    return lambda x: checkpoint(f, x, use_reentrant=False, **options)


def case(seed):
    rng = random.Random(seed)
    f, lines = function(rng)
    route = rng.choice(list(ROUTES))
    settings = rng.sample(list(SETTINGS), rng.choice([1, 1, 1, 2, 2, 3]))
    if route in RECORDING or route.startswith("functional"):
        settings = [s for s in settings if s not in ("inference mode", "no_grad")]
    wrapped = {}
    if rng.random() < 0.3:
        wrapped = {"early_stop": rng.random() < 0.7, "determinism_check": "default"}
    x = torch.tensor([rng.uniform(-1.5, 1.5) for _ in range(N)], dtype=torch.float64)
    expected = by_double_backward(f, x)
    if not all(by_double_backward(f, point).isfinite().all() for point in beside(x)):  # nothing to compare, and anomaly mode would say so
        return None
    told = f"seed {seed}: {route} under {settings}{' with a checkpoint' if wrapped else ''} of {lines}"
    try:
        with stack(*(SETTINGS[s]() for s in settings)):
            found = ROUTES[route](checkpointed(f, **wrapped) if wrapped else f, x)
        torch.testing.assert_close(found.detach(), expected, rtol=1e-8, atol=1e-8)
    except Exception as error:
        return f"{told}\n    {type(error).__name__}: {str(error)[:300]}"
    return None


@pytest.mark.told("nan_origin", why="some overflow", sometimes=True)
@pytest.mark.parametrize("batch", range(BATCHES))
def test_second_derivatives(batch):
    seeds = range(batch * PROGRAMS // BATCHES, (batch + 1) * PROGRAMS // BATCHES)
    failures = [told for told in map(case, seeds) if told]
    assert not failures, "\n".join(failures)


if __name__ == "__main__":
    first, count = int(sys.argv[1]), int(sys.argv[2])
    bad = 0
    for seed in range(first, first + count):
        if told := case(seed):
            bad += 1
            print(told, flush=True)
    print(f"{count} programs, {bad} differ")
