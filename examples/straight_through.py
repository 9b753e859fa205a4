"""Weights of two bits: forward sees rounded ones, backward goes straight through to those behind them."""

import argparse

import torch
from glyphs import digits
from torch import nn


class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weight, levels):
        scale = weight.abs().amax(dim=1, keepdim=True) / levels
        ctx.save_for_backward(weight.abs() <= scale * levels)
        return (weight / scale).round().clamp(-levels, levels) * scale

    @staticmethod
    def backward(ctx, grad):
        (inside,) = ctx.saved_tensors
        return grad * inside, None


class QuantisedLinear(nn.Linear):
    levels = 1  # -1, 0 and 1, times a scale per row

    def forward(self, x):
        return nn.functional.linear(x, Round.apply(self.weight, self.levels), self.bias)


def main(pictures, epochs):
    torch.manual_seed(0)
    x, y = digits(pictures)
    model = nn.Sequential(nn.Flatten(), QuantisedLinear(256, 128), nn.BatchNorm1d(128), nn.ReLU(), QuantisedLinear(128, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(epochs):
        total = 0.0
        for batch in torch.randperm(len(x)).split(64):
            loss = nn.functional.cross_entropy(model(x[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        print(f"epoch {epoch:2d}  loss {total / len(x):.5f}")
    values = Round.apply(model[1].weight, 1)[0].unique()
    print(f"different weights in a row: {len(values)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few steps, for tests")
    main(*(256, 3) if parser.parse_args().short else (4000, 15))
