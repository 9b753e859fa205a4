"""Steps of small models, as people write them: modules, optimizers, recurrences, second derivatives, custom functions."""

import importlib

from registry import case

LEARNING_RATE = 0.01


def mlp(torch, optimizer, activation):
    nn = torch.nn
    model = nn.Sequential(nn.Linear(16, 32), activation(), nn.Linear(32, 32), activation(), nn.Linear(32, 1))
    criterion, x, target = nn.MSELoss(), torch.randn(8, 16), torch.randn(8, 1)
    optimizer = optimizer(model.parameters(), lr=LEARNING_RATE)

    def step():
        optimizer.zero_grad()
        criterion(model(x), target).backward()
        optimizer.step()

    return step


@case("MLP 16-32-32-1 step, nn + optim.SGD", target=8)
def mlp_sgd(torch):
    return mlp(torch, torch.optim.SGD, torch.nn.Tanh)


@case("MLP 16-32-32-1 step, nn + optim.Adam", target=8)
def mlp_adam(torch):
    return mlp(torch, torch.optim.Adam, torch.nn.ReLU)


def watched(torch, step):
    """The step while somebody looks on at every op: an op handler, in PyTorch a dispatch mode."""
    if hasattr(torch._C, "_push_op_handler"):

        def watched_step():
            torch._C._push_op_handler(lambda op, args, kwargs: op(*args, **kwargs))
            step()
            torch._C._pop_op_handler()

        return watched_step

    class Watch(importlib.import_module("torch.utils._python_dispatch").TorchDispatchMode):
        def __torch_dispatch__(self, op, types, args=(), kwargs=None):
            return op(*args, **(kwargs or {}))

    def step_in_mode():
        with Watch():
            step()

    return step_in_mode


@case("MLP 16-32-32-1 step, nn + optim.SGD, watched", target=8)
def mlp_sgd_watched(torch):
    return watched(torch, mlp_sgd(torch))


@case("MLP 16-32-32-1 step, nn + optim.Adam, watched", target=8)
def mlp_adam_watched(torch):
    return watched(torch, mlp_adam(torch))


def step_over_million(torch, optimizer, **options):
    parameters = [torch.nn.Parameter(torch.randn(512, 512)) for _ in range(4)]
    for p in parameters:
        p.grad = torch.randn(512, 512)
    return optimizer(parameters, **options).step


@case("optim.SGD with momentum, 4 x 512x512", target=1)
def sgd_large(torch):
    return step_over_million(torch, torch.optim.SGD, lr=1e-4, momentum=0.9)


@case("optim.Adam, 4 x 512x512", target=1)
def adam_large(torch):
    return step_over_million(torch, torch.optim.Adam, lr=1e-4)


@case("GRU 64 by hand, 32 steps, batch 8, forward + backward", target=5)
def gru(torch):
    hidden, steps, batch = 64, 32, 8
    xs = torch.randn(steps, batch, hidden)
    weights = [(torch.randn(hidden, hidden) / hidden**0.5).requires_grad_() for _ in range(6)]
    biases = [torch.zeros(hidden, requires_grad=True) for _ in range(3)]
    (wz, wr, wn, uz, ur, un), (bz, br, bn) = weights, biases
    parameters = weights + biases

    def step():
        h = torch.zeros(batch, hidden)
        for x in xs:
            z = torch.sigmoid(x @ wz + h @ uz + bz)
            r = torch.sigmoid(x @ wr + h @ ur + br)
            n = torch.tanh(x @ wn + r * (h @ un) + bn)
            h = (1 - z) * n + z * h
        h.pow(2).mean().backward()
        for p in parameters:
            p.grad = None

    return step


@case("PINN step, u_x, u_t and u_xx of a tanh MLP", target=5)
def pinn(torch):
    x, t = torch.rand(64, 1, requires_grad=True), torch.rand(64, 1, requires_grad=True)
    sizes = [(2, 20), (20, 20), (20, 20), (20, 1)]
    weights = [(torch.randn(i, o) / i**0.5).requires_grad_() for i, o in sizes]
    biases = [torch.zeros(o, requires_grad=True) for _, o in sizes]
    parameters = weights + biases
    ones = torch.ones(64, 1)

    def network(x, t):
        h = torch.cat([x, t], 1)
        for w, b in zip(weights[:-1], biases[:-1], strict=True):
            h = torch.tanh(h @ w + b)
        return h @ weights[-1] + biases[-1]

    def step():
        u = network(x, t)
        u_x, u_t = torch.autograd.grad(u, (x, t), ones, create_graph=True)
        (u_xx,) = torch.autograd.grad(u_x, x, ones, create_graph=True)
        loss = (u_t + u * u_x - 0.01 * u_xx).pow(2).mean()
        loss.backward()
        with torch.no_grad():
            for p in parameters:
                p -= LEARNING_RATE * p.grad
                p.grad = None
        x.grad = t.grad = None

    return step


@case("custom autograd.Function, forward + backward", target=2)
def custom_function(torch):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * x * 2

    x, ones = torch.randn(4, 4, requires_grad=True), torch.ones(4, 4)

    def step():
        Square.apply(x).backward(ones)
        x.grad = None

    return step


def small_module(torch):
    class Returns(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(1))

        def forward(self, x):
            return x

    return {"module": Returns(), "x": torch.ones(1)}


@case("Module.__call__ without hooks", target=5)
def module_call(torch):
    return "module(x)", small_module(torch)


@case("module.weight", target=5)
def module_parameter(torch):
    return "module.weight", small_module(torch)
