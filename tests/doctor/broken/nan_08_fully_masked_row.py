# code: nan_origin
import torch
from torch import nn


class Attend(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.qk = nn.Linear(d, d)

    def forward(self, x, keep):
        scores = self.qk(x) @ x.transpose(1, 2)
        scores = scores.masked_fill(~keep[:, None, :], float("-inf"))
        attention = torch.softmax(scores, dim=-1)  # LINE
        return attention @ x


layer = Attend(4)
optimizer = torch.optim.AdamW(layer.parameters())
keep = torch.tensor([[True, True, False], [False, False, False]])
for step in range(3):
    out = layer(torch.randn(2, 3, 4), keep)
    loss = out.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
