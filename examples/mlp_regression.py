"""A small network learns a wavy function of two variables: model, loss, optimizer, schedule."""

import argparse

import torch
from torch import nn


def target(x):
    return torch.sin(3 * x[:, :1]) * torch.cos(2 * x[:, 1:]) + 0.3 * x[:, :1]


def main(steps):
    torch.manual_seed(0)
    x = torch.rand(512, 2) * 2 - 1
    y = target(x) + 0.02 * torch.randn(512, 1)
    model = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)

    for step in range(steps):
        batch = torch.randint(len(x), (64,))
        loss = nn.functional.mse_loss(model(x[batch]), y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % max(steps // 10, 1) == 0:
            print(f"step {step:5d}  loss {loss.item():.6f}  rate {schedule.get_last_lr()[0]:.2e}")

    with torch.no_grad():
        fresh = torch.rand(1000, 2) * 2 - 1
        error = (model(fresh) - target(fresh)).abs().mean()
    print(f"mean error on fresh points: {error.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few steps, for tests")
    main(20 if parser.parse_args().short else 2000)
