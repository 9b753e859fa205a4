"""A generator learns to put points on a ring of eight clusters, against a discriminator that tells them from real ones."""

import argparse
import math

import torch
from torch import nn


def real(n):
    angle = torch.randint(8, (n,)) * (2 * math.pi / 8)
    return 2 * torch.stack([angle.cos(), angle.sin()], dim=1) + 0.1 * torch.randn(n, 2)


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, outputs))


def main(steps):
    torch.manual_seed(0)
    generator, discriminator = mlp(4, 2), mlp(2, 1)
    g_optimizer = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
    d_optimizer = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.5, 0.999))
    bce = nn.BCEWithLogitsLoss()
    ones, zeros = torch.ones(128, 1), torch.zeros(128, 1)

    for step in range(steps):
        fake = generator(torch.randn(128, 4))
        d_loss = bce(discriminator(real(128)), ones) + bce(discriminator(fake.detach()), zeros)
        d_optimizer.zero_grad()
        d_loss.backward()
        d_optimizer.step()

        discriminator.requires_grad_(False)  # its gradients are not wanted here
        g_loss = bce(discriminator(fake), ones)
        g_optimizer.zero_grad()
        g_loss.backward()
        g_optimizer.step()
        discriminator.requires_grad_(True)
        if step % max(steps // 10, 1) == 0:
            print(f"step {step:5d}  discriminator {d_loss.item():.5f}  generator {g_loss.item():.5f}")

    with torch.no_grad():
        radius = generator(torch.randn(1000, 4)).norm(dim=1)
    print(f"radius of what is generated: {radius.mean().item():.3f} (real: 2)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few steps, for tests")
    main(20 if parser.parse_args().short else 4000)
