"""A neural ordinary differential equation learns a spiral. Backward solves the adjoint equation, so that no step of the solver is kept."""

import argparse

import torch
from torch import nn


def rk4(field, state, t0, t1, steps):
    """Runge and Kutta's method for a tuple of tensors."""
    h = (t1 - t0) / steps
    for i in range(steps):
        t = t0 + i * h
        k1 = field(t, state)
        k2 = field(t + h / 2, [s + h / 2 * k for s, k in zip(state, k1, strict=True)])
        k3 = field(t + h / 2, [s + h / 2 * k for s, k in zip(state, k2, strict=True)])
        k4 = field(t + h, [s + h * k for s, k in zip(state, k3, strict=True)])
        state = [s + h / 6 * (a + 2 * b + 2 * c + d) for s, a, b, c, d in zip(state, k1, k2, k3, k4, strict=True)]
    return state


class Adjoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, net, time, steps, y, *parameters):
        ctx.net, ctx.time, ctx.steps = net, time, steps
        with torch.no_grad():
            (end,) = rk4(lambda t, state: [net(state[0])], [y], 0.0, time, steps)
        ctx.save_for_backward(end, *parameters)
        return end

    @staticmethod
    def backward(ctx, grad):
        end, *parameters = ctx.saved_tensors

        def field(t, state):
            y, a, *_ = state
            with torch.enable_grad():
                y = y.detach().requires_grad_()
                out = ctx.net(y)
            found = torch.autograd.grad(out, [y, *parameters], a)
            return [out.detach(), *(-g for g in found)]

        state = [end, grad, *(torch.zeros_like(p) for p in parameters)]
        _, at_start, *of_parameters = rk4(field, state, ctx.time, 0.0, ctx.steps)
        return (None, None, None, at_start, *of_parameters)


def main(iterations):
    torch.manual_seed(0)
    true = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
    net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for i in range(iterations):
        start = torch.randn(64, 2)
        target = start @ torch.linalg.matrix_exp(true)
        end = Adjoint.apply(net, 1.0, 8, start, *net.parameters())
        loss = (end - target).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % max(iterations // 10, 1) == 0:
            print(f"iteration {i:4d}  loss {loss.item():.6f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few steps, for tests")
    main(10 if parser.parse_args().short else 600)
