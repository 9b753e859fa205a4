import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.norm = nn.Linear(6, 6), nn.LayerNorm(6)

    def forward(self, x, *, scale=1.0):
        return self.norm(x + nn.functional.dropout(self.lin(x).relu(), 0.1, self.training) * scale)


blocks = nn.ModuleList([Block() for _ in range(3)])
tail = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 1))
opt = torch.optim.Adam([*blocks.parameters(), *tail.parameters()])
for step in range(5):
    x = torch.randn(4, 6)
    h = x
    for block in blocks:
        h = checkpoint(block, h, scale=0.5, use_reentrant=False)
    loss = checkpoint_sequential(tail, 2, h, use_reentrant=False).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
