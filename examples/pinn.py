"""A physics-informed net solves the heat equation u_t = u_xx / 10 on a rod, from its derivatives alone."""

import argparse
import math

import torch
from torch import nn


def derivative(of, by):
    return torch.autograd.grad(of.sum(), by, create_graph=True)[0]


def exact(x, t):
    return torch.sin(math.pi * x) * torch.exp(-0.1 * math.pi**2 * t)


def main(steps):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)

    def u(x, t):
        return net(torch.cat([x, t], dim=1))

    for step in range(steps):
        x, t = (torch.rand(128, 1).requires_grad_() for _ in range(2))
        inside = u(x, t)
        residual = derivative(inside, t) - 0.1 * derivative(derivative(inside, x), x)
        edge, start = torch.rand(64, 1), torch.rand(64, 1)
        at_edges = u(torch.randint(0, 2, (64, 1)).float(), edge)
        at_start = u(start, torch.zeros_like(start)) - torch.sin(math.pi * start)
        loss = residual.square().mean() + 5 * at_edges.square().mean() + 5 * at_start.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % max(steps // 10, 1) == 0:
            print(f"step {step:5d}  loss {loss.item():.6f}")

    with torch.no_grad():
        x, t = torch.rand(1000, 1), torch.rand(1000, 1)
        print(f"largest error: {(u(x, t) - exact(x, t)).abs().max().item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few steps, for tests")
    main(20 if parser.parse_args().short else 3000)
