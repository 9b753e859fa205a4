# code: checkpoint_side_effects
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(4, 16), nn.Linear(16, 4)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.down(self.drop(torch.relu(self.up(x))))  # ALSO


ff = FeedForward()
optimizer = torch.optim.AdamW(ff.parameters(), lr=1e-3)
for _ in range(3):
    x = torch.randn(3, 4)
    out = checkpoint(ff, x, use_reentrant=False, preserve_rng_state=False)  # LINE
    optimizer.zero_grad()
    out.pow(2).mean().backward()
    optimizer.step()
