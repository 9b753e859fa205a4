"""Function transforms: what vmap and grad cost around small functions, per-sample gradients, ensembles."""

import importlib
import itertools

from registry import case


def transformed(name, make, target=1, sizes=((8, 4),)):
    """A function made by a transform, called with random tensors."""

    @case(name, target=target)
    def setup(torch):
        func = importlib.import_module(f"{torch.__name__}.func")
        return "f(*args)", {"f": make(func, torch), "args": [torch.randn(*size) for size in sizes]}


transformed("vmap of sin", lambda func, torch: func.vmap(torch.sin))
transformed("vmap of 10 sin", lambda func, torch: func.vmap(lambda x: x.sin().sin().sin().sin().sin().sin().sin().sin().sin().sin()))
transformed("vmap of dot", lambda func, torch: func.vmap(torch.dot), sizes=((8, 4), (8, 4)))
transformed("grad of a sum of squares", lambda func, torch: func.grad(lambda x: (x * x).sum()), target=5)
transformed("vmap of grad", lambda func, torch: func.vmap(func.grad(lambda x: (x * x).sum())), target=2)
transformed("jacrev 16", lambda func, torch: func.jacrev(lambda x: x.sin() * x), target=2, sizes=((16,),))
transformed("jacfwd 16", lambda func, torch: func.jacfwd(lambda x: x.sin() * x), target=2, sizes=((16,),))
transformed("hessian 16", lambda func, torch: func.hessian(lambda x: (x**3).sum()), target=2, sizes=((16,),))


def mlp(torch, *sizes):
    layers = []
    for inputs, outputs in itertools.pairwise(sizes):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.Tanh()]
    return torch.nn.Sequential(*layers[:-1])


@case("per-sample gradients, mlp, batch 64", target=1)
def per_sample(torch):
    func = importlib.import_module(f"{torch.__name__}.func")
    torch.manual_seed(0)
    model = mlp(torch, 32, 64, 64, 10)
    params = {name: p.detach() for name, p in model.named_parameters()}
    x, y = torch.randn(64, 32), torch.randint(0, 10, (64,))

    def loss(params, x, y):
        return torch.nn.functional.cross_entropy(func.functional_call(model, params, (x.unsqueeze(0),)), y.unsqueeze(0))

    gradients = func.vmap(func.grad(loss), in_dims=(None, 0, 0))
    return lambda: gradients(params, x, y)


@case("ensemble of 8 mlp", target=1)
def ensemble(torch):
    func = importlib.import_module(f"{torch.__name__}.func")
    torch.manual_seed(0)
    models = [mlp(torch, 32, 64, 10) for _ in range(8)]
    params, _ = func.stack_module_state(models)
    params = {name: p.detach() for name, p in params.items()}
    x = torch.randn(64, 32)
    run = func.vmap(lambda p, x: func.functional_call(models[0], p, (x,)), in_dims=(0, None))
    return lambda: run(params, x)
