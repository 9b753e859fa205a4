import functools

import torch
import torch.nn as nn


@functools.cache
def causal_mask(n):
    return torch.full((n, n), float("-inf")).triu(1)


class Attn(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        a = (q @ k.transpose(1, 2) / x.size(-1) ** 0.5 + causal_mask(x.size(1))).softmax(-1)
        return self.o(a @ v)


m = Attn(6)
opt = torch.optim.AdamW(m.parameters(), lr=1e-3)
for i in range(20):
    x = torch.randn(2, 3 + i % 7, 6)
    opt.zero_grad()
    (m(x) - x).pow(2).mean().backward()
    opt.step()
