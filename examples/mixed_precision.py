"""A transformer trained in bfloat16 by autocast, beside the same in float32: products in 16 bits, parameters and losses in 32."""

import argparse

import torch
from torch import nn


class Copier(nn.Module):
    """Learns to say a sequence backwards."""

    def __init__(self, letters=12, width=32, length=8):
        super().__init__()
        self.embedding, self.place = nn.Embedding(letters, width), nn.Parameter(0.1 * torch.randn(length, width))
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, letters)

    def forward(self, x):
        return self.head(self.encoder(self.embedding(x) + self.place))


def train(steps, dtype):
    torch.manual_seed(0)
    model = Copier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    losses = []
    for _ in range(steps):
        x = torch.randint(12, (32, 8))
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype is torch.bfloat16):
            logits = model(x)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), x.flip(1).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, logits.dtype


def main(steps):
    for dtype in (torch.float32, torch.bfloat16):
        losses, kind = train(steps, dtype)
        shown = " ".join(f"{v:.3f}" for v in losses[:: max(steps // 8, 1)])
        print(f"{str(dtype).removeprefix('torch.'):9} logits are {str(kind).removeprefix('torch.'):9} losses {shown}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few steps, for tests")
    main(8 if parser.parse_args().short else 400)
