# code: dead_gradient
import torch
from torch import nn


class LoRA(nn.Module):
    def __init__(self, base, rank):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Parameter(torch.zeros(base.in_features, rank))  # ALSO
        self.up = nn.Parameter(torch.zeros(rank, base.out_features))  # ALSO

    def forward(self, x):
        hidden = x @ self.down
        return self.base(x) + hidden @ self.up  # LINE


torch.manual_seed(0)
model = LoRA(nn.Linear(6, 3), 2)
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for step in range(4):
    x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
