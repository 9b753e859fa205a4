"""A transformer encoder trained with and without checkpointing: the same losses, fewer tensors kept for backward."""

import argparse

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Encoder(nn.Module):
    def __init__(self, width, depth, checkpointed):
        super().__init__()
        self.checkpointed = checkpointed
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.1, batch_first=True) for _ in range(depth))
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False) if self.checkpointed else layer(x)
        return self.head(x).squeeze(-1)


def kept(model, x):
    """The output, and the bytes of the tensors that autograd keeps for it."""
    seen = {}

    def pack(tensor):
        seen[tensor.data_ptr()] = tensor.numel() * tensor.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        return model(x), sum(seen.values())


def main(width, depth, steps):
    losses, sizes = {}, {}
    for checkpointed in (False, True):
        torch.manual_seed(0)
        model = Encoder(width, depth, checkpointed)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        losses[checkpointed] = []
        for _ in range(steps):
            x = torch.randn(8, 32, width)
            target = x.cumsum(1)[..., 0] / 5
            out, sizes[checkpointed] = kept(model, x)
            loss = nn.functional.mse_loss(out, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses[checkpointed].append(loss.item())
        print(f"checkpointed {checkpointed!s:5}  losses {[round(v, 5) for v in losses[checkpointed][:: max(steps // 5, 1)]]}")
    print(
        f"the same losses: {all(abs(a - b) < 1e-4 for a, b in zip(*losses.values(), strict=True))}; kept less: {sizes[True] < sizes[False] / 2}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few steps, for tests")
    main(*(16, 2, 5) if parser.parse_args().short else (64, 4, 60))
