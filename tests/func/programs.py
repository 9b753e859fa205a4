"""Programs of transforms, run on retrograd and on PyTorch. Each takes the engine and returns tensors, or containers of them."""

from __future__ import annotations

import itertools
from typing import Any


def inputs(torch: Any) -> tuple[Any, Any]:
    x = torch.linspace(0.1, 1.2, 24, dtype=torch.float64).reshape(2, 3, 4)
    w = torch.linspace(-1.0, 0.9, 4, dtype=torch.float64)
    return x, w


# -- nestings -------------------------------------------------------------------------------------
#
# A transform here takes a function of one tensor to one tensor of any size, and gives such a function: so that any chain of them fits.


def _total(f: Any) -> Any:
    return lambda x: (f(x) * 0.5).sum()


TRANSFORMS = {
    "grad": lambda torch: lambda f: torch.func.grad(_total(f)),
    "vmap": lambda torch: lambda f: lambda x: torch.func.vmap(f)(x) if x.ndim else f(x),
    "vmap-1": lambda torch: lambda f: lambda x: torch.func.vmap(f, in_dims=-1, out_dims=-1)(x) if x.ndim else f(x),
    "jvp": lambda torch: lambda f: lambda x: torch.func.jvp(f, (x,), (x.cos(),))[1],
    "vjp": lambda torch: lambda f: lambda x: _pulled(torch, f, x),
    "jacrev": lambda torch: lambda f: torch.func.jacrev(_total(f)),
    "jacfwd": lambda torch: lambda f: torch.func.jacfwd(_total(f)),
    "linearize": lambda torch: lambda f: lambda x: torch.func.linearize(f, x)[1](x.cos()),
}


def _pulled(torch: Any, f: Any, x: Any) -> Any:
    output, pull = torch.func.vjp(f, x)
    return pull(output.detach().cos() if output.ndim else output.cos())[0]


def chains(depth: int) -> list[tuple[str, ...]]:
    return list(itertools.product(TRANSFORMS, repeat=depth))


def nested(torch: Any, chain: tuple[str, ...]) -> Any:
    """The chain applied to a function that is not too simple, outermost transform first."""
    x, w = inputs(torch)

    def f(t: Any) -> Any:
        return (t.sin() * t + (w[: t.shape[-1]] * t if t.ndim and t.shape[-1] <= 4 else t * 0.3)).tanh()

    for name in reversed(chain):
        f = TRANSFORMS[name](torch)(f)
    return f(x[0, :2, :3])


# -- writing in place -----------------------------------------------------------------------------


def write_rows(a: Any) -> Any:
    y = a * 1
    y[1] = y[0] * 2
    return (y**2).sum()


def write_slice(a: Any) -> Any:
    y = a * 1
    y[1:, ::2].mul_(a[0, 0])
    return (y**3).sum()


def write_views(a: Any) -> Any:
    y = (a * 2).view(-1)
    y[3:7].fill_(0.5)
    y[0] += a.sum()
    z = y.view(4, 3)
    z.transpose(0, 1)[1].sigmoid_()
    return (z * y.view(4, 3)).sum()


def write_into_zeros(a: Any) -> Any:
    y = a * 0
    y[0] = a[1]
    y[2, 1:3] = a[0, :2]
    return (y**2).sum()


def write_and_sum(a: Any) -> Any:
    y = a * 1
    y[0].mul_(a[1])
    y[1].copy_(a[0])
    return y[:2].sum()


def write_by_index(a: Any) -> Any:
    y = a.clone()
    y.fill_diagonal_(0.0)
    y.masked_fill_(a > 0.9, 3.0)
    y[:, [0, 2]] *= 3
    return (y**2).sum()


WRITES = [write_rows, write_slice, write_views, write_into_zeros, write_and_sum, write_by_index]


def written(torch: Any, function: Any) -> Any:
    x, _ = inputs(torch)
    f = torch.func
    return {
        "vmap grad": f.vmap(f.grad(function))(x),
        "vmap grad, batch last": f.vmap(f.grad(function), in_dims=2)(x.permute(1, 2, 0).contiguous()),
        "grad vmap": f.grad(lambda q: f.vmap(function)(q).sum())(x),
        "jvp vmap": f.jvp(lambda q: f.vmap(function)(q).sum(), (x,), (x,)),
        "vmap jvp": f.vmap(lambda q: f.jvp(function, (q,), (q,)))(x),
        "vmap jacfwd grad": f.vmap(f.jacfwd(f.grad(function)))(x),
        "vmap jacrev grad": f.vmap(f.jacrev(f.grad(function)))(x),
    }


# -- containers, several arguments ----------------------------------------------------------------


def containers(torch: Any) -> Any:
    x, w = inputs(torch)
    f = torch.func
    tree = {"a": x[0], "b": [w, (w * 2,)]}

    def run(t: Any, scale: Any) -> Any:
        return {"u": t["a"] @ t["b"][0] * scale, "v": (t["b"][1][0].sum(), t["a"].exp())}

    def total(t: Any, scale: Any) -> Any:
        out = run(t, scale)
        return out["u"].sum() + out["v"][0] * out["v"][1].sum()

    output, pull = f.vjp(run, tree, w[0])
    return {
        "grad": f.grad(total)(tree, w[0]),
        "grad both": f.grad(total, argnums=(1, 0))(tree, w[0]),
        "grad and value": f.grad_and_value(lambda t, s: (total(t, s), {"aux": t["a"] * 2}), has_aux=True)(tree, w[0]),
        "vjp": pull(output),
        "jvp": f.jvp(run, (tree, w[0]), (tree, w[1])),
        "jacrev": f.jacrev(run)(tree, w[0]),
        "jacfwd": f.jacfwd(run, argnums=(0, 1))(tree, w[0]),
        "jacrev aux": f.jacrev(lambda t, s: (run(t, s), s * 2), argnums=1, has_aux=True)(tree, w[0]),
        "jacfwd aux": f.jacfwd(lambda t, s: (run(t, s), s * 2), argnums=1, has_aux=True)(tree, w[0]),
        "hessian": f.hessian(lambda a, b: (a * b).sin().sum(), argnums=(0, 1))(w, w * 2),
        "chunks": f.jacrev(lambda a: a.cumsum(0), chunk_size=3)(w),
        "one by one": f.jacrev(lambda a: a.cumsum(0), chunk_size=1)(w),
    }


# -- vmap -----------------------------------------------------------------------------------------


def dimensions(torch: Any) -> Any:
    x, w = inputs(torch)
    v = torch.func.vmap
    pair = {"a": x, "b": [w, 3.0]}
    return {
        "last": v(lambda a: a.sum(0), in_dims=-1)(x),
        "middle out": v(lambda a: a * 2, in_dims=1, out_dims=1)(x),
        "out last": v(lambda a: (a, a.sum()), out_dims=(-1, 0))(x),
        "shared": v(lambda a, b: a @ b, in_dims=(0, None))(x, w),
        "tree in": v(lambda t: t["a"] + t["b"][0] * t["b"][1], in_dims=({"a": 1, "b": [None, None]},))(pair),
        "tree out": v(lambda a: {"p": a, "q": (a.sum(), [a[0]])}, out_dims={"p": 1, "q": (0, [1])})(x),
        "no batch out": v(lambda a: (a, w), out_dims=(0, None))(x),
        "constant": v(lambda a: w)(x),
        "nested": v(v(v(lambda a: a.sin())))(x),
        "outer product": v(v(lambda a, b: a * b, in_dims=(0, None)), in_dims=(None, 0))(w, w),
        "inner last": v(v(lambda a, b: a * b, in_dims=(0, None)), in_dims=(1, 0))(x[0], w),
        "chunks": v(lambda a: (a * 2, a.sum()), chunk_size=2, in_dims=1, out_dims=(1, 0))(x),
        "keyword": v(lambda a, b=None: a + b)(x, b=w),
        "empty": v(lambda a: (a.sum(), a.cumsum(0), a @ w))(x[:0]),
        "dtypes": v(lambda a, b: (a * b, a + 1, b > 0))(x.float(), w[:2]),
        "numbers": v(lambda a: a[0, 0] * 2.5 + torch.tensor(1))(x),
        "closed over": v(lambda a: torch.stack([a[0], w]) + torch.zeros(4))(x),
    }


def modules(torch: Any) -> Any:
    """Per-sample gradients of a small network, and an ensemble."""
    torch.manual_seed(0)
    nn, f = torch.nn, torch.func
    models = [nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.LayerNorm(5), nn.Linear(5, 3)).double() for _ in range(3)]
    for k, model in enumerate(models):
        for i, p in enumerate(model.parameters()):
            p.data.copy_(torch.linspace(-0.5, 0.5 + 0.1 * i, p.numel(), dtype=torch.float64).reshape(p.shape) * (k + 1))
    x = torch.linspace(-1, 1, 24, dtype=torch.float64).reshape(6, 4)
    y = torch.tensor([0, 1, 2, 2, 1, 0])
    params = {k: v.detach() for k, v in models[0].named_parameters()}

    def loss(params: Any, x: Any, y: Any) -> Any:
        return nn.functional.cross_entropy(f.functional_call(models[0], params, x.unsqueeze(0)), y.unsqueeze(0))

    stacked, _ = f.stack_module_state(models)
    stacked = {k: v.detach() for k, v in stacked.items()}
    run = f.vmap(
        f.grad_and_value(lambda p, x, y: nn.functional.cross_entropy(f.functional_call(models[0], p, x), y)), in_dims=(0, None, None)
    )
    return {
        "per sample": f.vmap(f.grad(loss), in_dims=(None, 0, 0))(params, x, y),
        "of the batch": f.grad(lambda p: f.vmap(loss, in_dims=(None, 0, 0))(p, x, y).mean())(params),
        "ensemble": run(stacked, x, y),
        "hessian of a loss": f.hessian(lambda b: loss({**params, "3.bias": b}, x[0], y[0]))(params["3.bias"]),
        "tangent kernel": _kernel(torch, lambda p, x: f.functional_call(models[0], p, x.unsqueeze(0)).squeeze(0), params, x),
    }


def _kernel(torch: Any, apply: Any, params: Any, x: Any) -> Any:
    jacobians = torch.func.vmap(torch.func.jacrev(apply), in_dims=(None, 0))(params, x)
    return sum(torch.einsum("naf,mbf->nmab", j.flatten(2), j.flatten(2)) for j in jacobians.values())


def filled(torch: Any) -> Any:
    """Functions that fill a tensor of zeros: in forward mode its tangent differs between the columns of a Jacobian, and it does not."""
    _, w = inputs(torch)
    f = torch.func

    def fill(a: Any) -> Any:
        y = torch.zeros(3, dtype=torch.float64)
        y[0] = a.sum()
        y[1:] = a[:2] ** 2
        return y

    def fill_and_multiply(a: Any) -> Any:
        y = torch.zeros_like(a)
        y[0] = a.sum()
        y.mul_(a)
        y[1:] += y[:1].clone() * a[1:]
        return y

    def overwrite(a: Any) -> Any:
        y = a.clone()
        y[0] = 1
        y += a
        return y

    return [
        [
            f.jacfwd(g)(w),
            f.jacrev(g)(w),
            f.jacfwd(f.jacfwd(g))(w),
            f.hessian(lambda q, g=g: g(q).pow(3).sum())(w),
            f.jvp(lambda q, g=g: f.jvp(g, (q,), (w,))[1], (w,), (w,)),
        ]
        for g in (fill, fill_and_multiply, overwrite)
    ]


PROGRAMS = {"filled": filled, "containers": containers, "dimensions": dimensions, "modules": modules}
