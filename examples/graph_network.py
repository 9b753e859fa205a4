"""A graph network finds the two communities of a random graph, told the side of four of its nodes."""

import argparse

import torch
from torch import nn


def make_graph(n, within, between):
    side = torch.arange(n) % 2
    chance = torch.where(side.unsqueeze(0) == side.unsqueeze(1), within, between)
    edges = (torch.rand(n, n) < chance).triu(1).nonzero().t()
    return side, torch.cat([edges, edges.flip(0)], dim=1)


class Layer(nn.Module):
    """Each node adds the mean of its neighbours' messages to what it knows."""

    def __init__(self, width):
        super().__init__()
        self.message, self.own = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x, edges):
        source, target = edges
        total = torch.zeros_like(x).index_add(0, target, self.message(x)[source])
        degree = torch.bincount(target, minlength=len(x)).clamp(min=1).unsqueeze(1)
        return torch.relu(self.own(x) + total / degree)


class Network(nn.Module):
    def __init__(self, n, width=16, depth=2):
        super().__init__()
        self.start = nn.Embedding(n, width)
        self.layers = nn.ModuleList(Layer(width) for _ in range(depth))
        self.head = nn.Linear(width, 2)

    def forward(self, edges):
        x = self.start.weight
        for layer in self.layers:
            x = layer(x, edges)
        return self.head(x)


def main(n, epochs):
    torch.manual_seed(0)
    side, edges = make_graph(n, 0.2, 0.03)
    known = torch.tensor([0, 1, 2, 3])
    model = Network(n)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=5e-3)
    for epoch in range(epochs):
        logits = model(edges)
        loss = nn.functional.cross_entropy(logits[known], side[known])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % max(epochs // 10, 1) == 0:
            right = (logits.argmax(1) == side).float().mean()
            print(f"epoch {epoch:4d}  loss {loss.item():.6f}  right {right.item():.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few steps, for tests")
    main(*(40, 10) if parser.parse_args().short else (200, 200))
