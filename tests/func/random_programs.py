"""Small random programs in float64, ways to get their second and third derivatives by nesting transforms, and the same by plain double
backward. Smooth everywhere, so that all ways must agree."""

from __future__ import annotations

import contextlib
import random
from typing import Any

import retrograd as torch
from retrograd import func
from retrograd.autograd import forward_ad, functional

Program = Any  # a tensor of three elements to a tensor of three elements


class SavedBoth(torch.autograd.Function):
    """exp(a) * b, with its output, an input and an intermediate saved."""

    @staticmethod
    def forward(a, b):
        e = a.exp()
        return e * b, e

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output[0], inputs[1], output[1])
        ctx.save_for_forward(output[0], inputs[1], output[1])

    @staticmethod
    def backward(ctx, grad, grad_e):
        out, _, e = ctx.saved_tensors
        return grad * out + grad_e * e, grad * e

    @staticmethod
    def jvp(ctx, a_t, b_t):
        out, _, e = ctx.saved_tensors
        return a_t * out + b_t * e, a_t * e

    @staticmethod
    def vmap(info, in_dims, a, b):
        a, b = (t if d is None else t.movedim(d, 0) for t, d in zip((a, b), in_dims, strict=True))
        return SavedBoth.apply(*torch.broadcast_tensors(a, b)), (0, 0)


class Doubled(torch.autograd.Function):
    """sin(2 a), written in place, with the output saved."""

    generate_vmap_rule = True

    @staticmethod
    def forward(a):
        return (2 * a).sin()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output)
        ctx.save_for_forward(inputs[0])

    @staticmethod
    def backward(ctx, grad):
        a, out = ctx.saved_tensors
        return grad * ((2 * a).cos() * 2 + out - (2 * a).sin())

    @staticmethod
    def jvp(ctx, a_t):
        (a,) = ctx.saved_tensors
        return a_t * (2 * a).cos() * 2


def _written(a: Any, b: Any) -> Any:
    y = a.clone()
    y[1] = b[0] * a[2]
    y[:2].sub_(b[1:])
    return y.sigmoid_()


def _exp_of_a_part(a: Any, b: Any) -> Any:
    y = a * 1
    y[1:].exp_()
    return y * b


UNARY = {
    "sin": lambda a: a.sin(),
    "exp": lambda a: (a * 0.5).exp(),
    "tanh": lambda a: a.tanh(),
    "sigmoid": lambda a: a.sigmoid(),
    "sqrt": lambda a: (a * a + 1).sqrt(),
    "rsqrt": lambda a: (a * a + 1).rsqrt(),
    "log": lambda a: (a * a + 0.5).log(),
    "reciprocal": lambda a: (a * a + 1).reciprocal(),
    "power": lambda a: a**3 * 0.3,
    "softplus": lambda a: torch.nn.functional.softplus(a),
    "gelu": lambda a: torch.nn.functional.gelu(a),
    "softmax": lambda a: a.softmax(0),
    "log_softmax": lambda a: a.log_softmax(-1),
    "cumsum": lambda a: a.cumsum(0) * 0.5,
    "cumprod": lambda a: (a + 1.5).cumprod(0) * 0.3,
    "prod": lambda a: (a + 1).prod() * a,
    "logsumexp": lambda a: a.logsumexp(0) + a,
    "norm": lambda a: (a + 2).norm() * a,
    "outer": lambda a: torch.outer(a, a.cos()) @ a,
    "einsum": lambda a: torch.einsum("i,j,j->i", a, a, a) * 0.3,
    "turned": lambda a: a.flip(0) * a,
    "permuted": lambda a: (a.reshape(1, 3, 1).expand(2, 3, 2).transpose(0, 2) * a.view(3, 1)).sum((0, 2)) * a,
    "picked": lambda a: a[[2, 0, 2]] * a.roll(1),
    "where": lambda a: torch.where(torch.tensor([True, False, True]), a.sin(), a * a),
    "doubled": lambda a: Doubled.apply(a),
    "std": lambda a: (a * torch.tensor([1.0, 3.0, -2.0], dtype=a.dtype)).std() + a,
    "layer_norm": lambda a: torch.nn.functional.layer_norm(a * a + a, (3,)),
    "solve": lambda a: torch.linalg.solve(torch.outer(a, a) + 3 * torch.eye(3, dtype=a.dtype), a),
}
BINARY = {
    "add": lambda a, b: a + 0.5 * b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / (b * b + 1),
    "pow": lambda a, b: (a * a + 1) ** (b * 0.3),
    "hypot": lambda a, b: torch.hypot(a, b + 2),
    "atan2": lambda a, b: torch.atan2(a, b * b + 1),
    "addcmul": lambda a, b: torch.addcmul(a, a, b, value=0.3),
    "cat": lambda a, b: torch.cat([a[:1], b[1:] * a[:2]]),
    "stack": lambda a, b: (torch.stack([a, b]) ** 2).sum(0) * 0.3,
    "matmul": lambda a, b: torch.outer(a, b).tanh() @ b,
    "lerp": lambda a, b: torch.lerp(a, b, (a * b).sigmoid()),
    "written": _written,
    "part": _exp_of_a_part,
    "both": lambda a, b: SavedBoth.apply(a * 0.3, b)[0],
    "both1": lambda a, b: SavedBoth.apply(a * 0.3, b)[1] * b,
}


def program(seed: int) -> tuple[list[str], Program]:
    """The names of the steps, and the function."""
    rng = random.Random(seed)
    steps = []
    for at in range(1, rng.randint(2, 5)):
        if rng.random() < 0.5:
            steps.append((rng.choice(list(UNARY)), rng.randrange(at), None))
        else:
            steps.append((rng.choice(list(BINARY)), rng.randrange(at), rng.randrange(at)))

    def run(x: Any) -> Any:
        values = [x]
        for name, i, j in steps:
            values.append(UNARY[name](values[i]) if j is None else BINARY[name](values[i], values[j]))
        return values[-1] * 1.0

    return [name for name, _, _ in steps], run


# -- hooks ----------------------------------------------------------------------------------------


class Box:
    """What a hook may keep: anything."""

    def __init__(self, tensor):
        self.shape, self.values = tensor.shape, tensor.tolist()

    def open(self):
        return torch.tensor(self.values, dtype=torch.float64).reshape(self.shape)


def _numpy(tensor: Any) -> tuple[Any, Any]:
    return tensor.dtype, tensor.detach().numpy().copy()


def _plain_hooks(pack: Any, unpack: Any) -> Any:
    return lambda: torch.autograd.graph.saved_tensors_hooks(pack, unpack)


def _boxed(tensor: Any) -> Any:
    return Box(tensor) if tensor.dtype is torch.float64 else tensor


HOOKS = {
    "none": contextlib.nullcontext,
    "identity": _plain_hooks(lambda t: t, lambda t: t),
    "clone": _plain_hooks(lambda t: t.clone(), lambda t: t),
    "late clone": _plain_hooks(lambda t: t, lambda t: t.clone()),
    "detached": _plain_hooks(lambda t: t.detach().clone(), lambda t: t + 0 if t.is_floating_point() else t),
    "numpy": _plain_hooks(_numpy, lambda kept: torch.from_numpy(kept[1]).to(kept[0])),
    "box": _plain_hooks(_boxed, lambda kept: kept.open() if isinstance(kept, Box) else kept),
    "negated": _plain_hooks(lambda t: t.neg() if t.is_floating_point() else t, lambda t: t.neg() if t.is_floating_point() else t),
    "save_on_cpu": lambda: torch.autograd.graph.save_on_cpu(),
    "pinned": lambda: torch.autograd.graph.save_on_cpu(pin_memory=True),
    "allow_mutation": lambda: torch.autograd.graph.allow_mutation_on_saved_tensors(),
}


# -- second derivatives ---------------------------------------------------------------------------

WEIGHTS = [0.7, -1.1, 0.4]
DIRECTION = [0.3, 0.9, -0.5]


def weighted(f: Program) -> Any:
    return lambda x: (f(x) * torch.tensor(WEIGHTS, dtype=torch.float64)).sum()


def direction() -> Any:
    return torch.tensor(DIRECTION, dtype=torch.float64)


def _linearized(f: Any, x: Any) -> Any:
    return func.linearize(func.grad(f), x)[1](direction())


def _dual_then_grad(f: Any, x: Any) -> Any:
    with forward_ad.dual_level():
        leaf = x.clone().requires_grad_()
        dual = forward_ad.make_dual(leaf, direction())
        gradient = torch.autograd.grad(f(dual), leaf, create_graph=True)[0]
        return forward_ad.unpack_dual(gradient).tangent.detach()


def _grad_of_dual(f: Any, x: Any) -> Any:
    with forward_ad.dual_level():
        leaf = x.clone().requires_grad_()
        tangent = forward_ad.unpack_dual(f(forward_ad.make_dual(leaf, direction()))).tangent
        return torch.autograd.grad(tangent, leaf)[0]


def _pulled(f: Any, x: Any) -> Any:
    return func.vjp(func.grad(f), x)[1](direction())[0]


def _unit_rows(x: Any) -> Any:
    return torch.eye(x.numel(), dtype=x.dtype)


# Each takes a function to a number and a point, and gives the Hessian there; those named "* v" times the direction.
SECOND = {
    "hessian": lambda f, x: func.hessian(f)(x),
    "jacrev jacfwd": lambda f, x: func.jacrev(func.jacfwd(f))(x),
    "jacfwd jacfwd": lambda f, x: func.jacfwd(func.jacfwd(f))(x),
    "jacrev jacrev": lambda f, x: func.jacrev(func.jacrev(f))(x),
    "jacfwd grad": lambda f, x: func.jacfwd(func.grad(f))(x),
    "jacrev grad": lambda f, x: func.jacrev(func.grad(f))(x),
    "jacrev grad, one row at a time": lambda f, x: func.jacrev(func.grad(f), chunk_size=1)(x),
    "functional": lambda f, x: functional.hessian(f, x),
    "functional forward": lambda f, x: functional.hessian(f, x, vectorize=True, outer_jacobian_strategy="forward-mode"),
    "functional reverse": lambda f, x: functional.hessian(f, x, vectorize=True),
    "vmap jvp grad": lambda f, x: func.vmap(lambda v: func.jvp(func.grad(f), (x,), (v,))[1])(_unit_rows(x)),
    "vmap grad jvp": lambda f, x: func.vmap(lambda v: func.grad(lambda y: func.jvp(f, (y,), (v,))[1])(x))(_unit_rows(x)),
    "vmap hessian": lambda f, x: func.vmap(func.hessian(f))(torch.stack([x + 0.1, x]))[1],
    "vmap jacrev grad": lambda f, x: func.vmap(func.jacrev(func.grad(f)))(torch.stack([x, x + 0.1]))[0],
    "grad vmap grad": lambda f, x: func.jacrev(lambda y: func.vmap(func.grad(f))(torch.stack([y, y * 2]))[0])(x),
    "jacfwd vmap grad": lambda f, x: func.jacfwd(lambda y: func.vmap(func.grad(f))(torch.stack([y, y * 2]))[0])(x),
    "jvp grad * v": lambda f, x: func.jvp(func.grad(f), (x,), (direction(),))[1],
    "grad jvp * v": lambda f, x: func.grad(lambda y: func.jvp(f, (y,), (direction(),))[1])(x),
    "vjp grad * v": _pulled,
    "linearize grad * v": _linearized,
    "dual level, autograd.grad * v": _dual_then_grad,
    "autograd.grad of a tangent * v": _grad_of_dual,
    "functional.hvp * v": lambda f, x: functional.hvp(f, x, direction())[1],
}

THIRD = {  # the derivative of v' H v
    "grad jvp jvp": lambda f, x: func.grad(lambda y: _along(lambda z: _along(f, z), y))(x),
    "jvp jvp grad": lambda f, x: _along(lambda y: _along(func.grad(f), y), x),
    "jvp grad jvp": lambda f, x: _along(func.grad(lambda y: _along(f, y)), x),
    "hessian of grad": lambda f, x: func.jacfwd(func.hessian(f))(x) @ direction() @ direction(),
    "jacrev hessian": lambda f, x: func.jacrev(func.hessian(f))(x) @ direction() @ direction(),
    "grad grad grad": lambda f, x: _pull(lambda z: _pull(func.grad(f), z), x),
}


def _along(f: Any, x: Any) -> Any:
    return func.jvp(f, (x,), (direction(),))[1]


def _pull(f: Any, x: Any) -> Any:
    return func.grad(lambda y: f(y) @ direction())(x)


def double_backward(f: Any, x: Any) -> Any:
    leaf = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(f(leaf), leaf, create_graph=True)
    return torch.stack([torch.autograd.grad(g, leaf, retain_graph=True, allow_unused=True, materialize_grads=True)[0] for g in gradient])


def triple_backward(f: Any, x: Any) -> Any:
    leaf, v = x.clone().requires_grad_(), direction()
    (gradient,) = torch.autograd.grad(f(leaf), leaf, create_graph=True)
    (product,) = torch.autograd.grad(gradient @ v, leaf, create_graph=True)
    return torch.autograd.grad(product @ v, leaf)[0]


POINT = [0.4, -0.7, 1.1]


def disagreement(seed: int, hooks: str, order: str, inside: bool = False) -> str | None:
    """What differs between a nesting of transforms under hooks and plain backward; None where they agree."""
    names, f = program(seed)
    g, x = weighted(f), torch.tensor(POINT, dtype=torch.float64)
    hessian, way = (double_backward, SECOND) if order in SECOND else (triple_backward, THIRD)
    try:
        expected = hessian(g, x)
    except RuntimeError as error:  # nothing left to differentiate
        if "does not require grad" not in str(error):
            raise
        return None
    if order.endswith("* v"):
        expected = expected @ direction()
    if inside:

        def hooked(y: Any) -> Any:
            with HOOKS[hooks]():
                return g(y)

        got = way[order](hooked, x)
    else:
        with HOOKS[hooks]():
            got = way[order](g, x)
    scale = 1 + expected.abs().max().item()
    if got.shape == expected.shape and (got - expected).abs().max().item() < 1e-9 * scale:
        return None
    return f"{' '.join(names)}, {order} under {hooks}: {got.tolist()}, expected {expected.tolist()}"
