# code: inplace_corruption
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x, mask):
        scores = self.q(x) @ self.k(x).transpose(1, 2)
        weights = scores.softmax(-1)  # ALSO
        weights.masked_fill_(mask, 0.0)  # LINE
        return weights @ self.v(x)


model = Attention(4)
mask = torch.triu(torch.ones(3, 3, dtype=torch.bool), 1)
loss = model(torch.randn(2, 3, 4), mask).pow(2).mean()
loss.backward()
