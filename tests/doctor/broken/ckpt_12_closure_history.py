# code: checkpoint_side_effects
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


def build():
    norms = {"count": 0}
    layer = nn.Linear(3, 3)

    def run(x):
        norms["count"] += 1  # ALSO
        y = torch.relu(layer(x))
        return y * 2

    return layer, run, norms


layer, run, norms = build()
optimizer = torch.optim.Adam(layer.parameters())
for _ in range(3):
    out = checkpoint(run, torch.randn(2, 3), use_reentrant=False)  # LINE
    optimizer.zero_grad()
    out.pow(2).sum().backward()
    optimizer.step()
