"""Model-agnostic meta-learning of sine waves: the outer gradient goes through the steps of the inner descent."""

import argparse
import math

import torch
from torch import nn
from torch.func import functional_call, grad, vmap


def main(iterations, tasks):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(1, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    parameters = dict(net.named_parameters())

    def loss_of(weights, x, y):
        return nn.functional.mse_loss(functional_call(net, weights, (x,)), y)

    def after_adapting(weights, x, y, x_new, y_new):
        for _ in range(2):
            slopes = grad(loss_of)(weights, x, y)
            weights = {name: w - 0.01 * slopes[name] for name, w in weights.items()}
        return loss_of(weights, x_new, y_new)

    for i in range(iterations):
        height, phase = 0.1 + 4.9 * torch.rand(tasks, 1, 1), math.pi * torch.rand(tasks, 1, 1)
        x = 10 * torch.rand(tasks, 20, 1) - 5
        y = height * torch.sin(x - phase)
        losses = vmap(after_adapting, (None, 0, 0, 0, 0))(parameters, x[:, :10], y[:, :10], x[:, 10:], y[:, 10:])
        optimizer.zero_grad()
        losses.mean().backward()
        optimizer.step()
        if i % max(iterations // 10, 1) == 0:
            print(f"iteration {i:5d}  loss after two steps {losses.mean().item():.5f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few steps, for tests")
    main(*(10, 8) if parser.parse_args().short else (3000, 25))
