"""The largest eigenvalues of the Hessian of a network's loss, from Hessian-vector products and Lanczos' method."""

import argparse

import torch
from torch import nn


def main(hidden, iterations):
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    x = torch.randn(100, 4)
    y = torch.sin(x.sum(1, keepdim=True))
    model = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, 1))
    parameters = list(model.parameters())
    optimizer = torch.optim.Adam(parameters, lr=1e-2)
    for _ in range(50):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()

    loss = nn.functional.mse_loss(model(x), y)
    slope = torch.cat([g.flatten() for g in torch.autograd.grad(loss, parameters, create_graph=True)])
    n = slope.numel()

    def product(v):
        return torch.cat([g.flatten() for g in torch.autograd.grad(slope, parameters, v, retain_graph=True)])

    q, basis, alpha, beta = nn.functional.normalize(torch.randn(n), dim=0), [], [], []
    for _ in range(min(iterations, n)):
        basis.append(q)
        w = product(q)
        alpha.append(w @ q)
        for _ in range(2):  # twice is enough to keep the basis orthogonal
            w = w - torch.stack(basis).T @ (torch.stack(basis) @ w)
        beta.append(w.norm())
        q = w / beta[-1]
    small = torch.diag(torch.stack(alpha)) + torch.diag(torch.stack(beta[:-1]), 1) + torch.diag(torch.stack(beta[:-1]), -1)
    found = torch.linalg.eigvalsh(small).flip(0)[:4]

    whole = torch.stack([product(e) for e in torch.eye(n)])
    exact = torch.linalg.eigvalsh(whole).flip(0)[:4]
    print(f"loss {loss.item():.6f}, {n} parameters")
    print("by Lanczos ", " ".join(f"{v:.6f}" for v in found.tolist()))
    print("by all rows", " ".join(f"{v:.6f}" for v in exact.tolist()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few steps, for tests")
    main(*(4, 20) if parser.parse_args().short else (32, 60))
