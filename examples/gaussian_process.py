"""Gaussian process regression: length, height and noise from the marginal likelihood, through a Cholesky factor."""

import argparse
import math

import torch


def kernel(a, b, length, height):
    return height.square() * torch.exp(-0.5 * ((a.unsqueeze(1) - b) / length).square())


def main(points, steps):
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    x = torch.sort(torch.rand(points) * 10).values
    y = torch.sin(x) + 0.1 * torch.randn(points)
    log = torch.tensor([0.5, 0.5, -1.0], requires_grad=True)  # of length, height, noise
    optimizer = torch.optim.Adam([log], lr=0.05)

    def factor():
        length, height, noise = log.exp()
        return torch.linalg.cholesky(kernel(x, x, length, height) + noise.square() * torch.eye(points))

    for step in range(steps):
        lower = factor()
        weights = torch.cholesky_solve(y.unsqueeze(1), lower)
        loss = 0.5 * y @ weights.squeeze(1) + lower.diagonal().log().sum() + 0.5 * points * math.log(2 * math.pi)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % max(steps // 10, 1) == 0:
            print(f"step {step:4d}  negative log likelihood {loss.item():.5f}")

    with torch.no_grad():
        length, height, noise = log.exp()
        lower = factor()
        new = torch.linspace(0, 10, 50)
        cross = kernel(new, x, length, height)
        mean = cross @ torch.cholesky_solve(y.unsqueeze(1), lower).squeeze(1)
        variance = height.square() - torch.linalg.solve_triangular(lower, cross.T, upper=False).square().sum(0)
        error = (mean - torch.sin(new)).abs().mean()
    print(f"length {length.item():.4f}  height {height.item():.4f}  noise {noise.item():.4f}")
    print(f"mean error {error.item():.4f}  mean deviation {variance.clamp(min=0).sqrt().mean().item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few steps, for tests")
    main(*(30, 10) if parser.parse_args().short else (80, 200))
