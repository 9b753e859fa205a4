"""One gradient for each sample by vmap of grad, clipped one by one and made noisy: training with differential privacy."""

import argparse

import torch
from glyphs import digits
from torch import nn
from torch.func import functional_call, grad, vmap


def main(pictures, steps):
    torch.manual_seed(0)
    x, y = digits(pictures)
    model = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 49, 10))
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def loss_of(weights, picture, label):
        logits = functional_call(model, weights, (picture.unsqueeze(0),))
        return nn.functional.cross_entropy(logits, label.unsqueeze(0))

    each = vmap(grad(loss_of), in_dims=(None, 0, 0))
    losses = vmap(loss_of, in_dims=(None, 0, 0))
    for step in range(steps):
        batch = torch.randint(len(x), (64,))
        slopes = each(parameters, x[batch], y[batch])
        norms = torch.stack([g.flatten(1).norm(dim=1) for g in slopes.values()]).norm(dim=0)
        factor = (1.0 / norms).clamp(max=1)
        for name, g in slopes.items():
            clipped = torch.einsum("n...,n->...", g, factor) + 0.5 * torch.randn(g.shape[1:])
            parameters[name] = parameters[name] - 0.5 * clipped / len(batch)
        if step % max(steps // 10, 1) == 0:
            loss = losses(parameters, x[batch], y[batch]).mean()
            print(f"step {step:4d}  loss {loss.item():.5f}  largest gradient of a sample {norms.max().item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few steps, for tests")
    main(*(200, 5) if parser.parse_args().short else (2000, 300))
