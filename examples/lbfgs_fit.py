"""A sum of two decaying waves fitted by L-BFGS, which calls the closure as often as its line search wants."""

import argparse

import torch


def wave(p, t):
    return p[0] * torch.exp(-p[1] * t) * torch.cos(p[2] * t) + p[3] * torch.exp(-p[4] * t) * torch.sin(p[5] * t)


def main(rounds):
    torch.manual_seed(0)
    t = torch.linspace(0, 6, 200, dtype=torch.float64)
    true = torch.tensor([2.0, 0.3, 3.0, 1.0, 0.1, 1.3], dtype=torch.float64)
    y = wave(true, t) + 0.01 * torch.randn(200, dtype=torch.float64)
    p = (true * (1 + 0.1 * torch.randn(6, dtype=torch.float64))).requires_grad_()
    optimizer = torch.optim.LBFGS([p], lr=1, max_iter=10, line_search_fn="strong_wolfe")
    calls = 0

    def closure():
        nonlocal calls
        calls += 1
        optimizer.zero_grad()
        loss = (wave(p, t) - y).square().mean()
        loss.backward()
        return loss

    for i in range(rounds):
        loss = optimizer.step(closure)
        print(f"round {i}  loss before it {loss.item():.8f}  calls so far {calls}")
    print("found", [round(v, 3) for v in p.tolist()], "true", true.tolist())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few steps, for tests")
    main(3 if parser.parse_args().short else 8)
