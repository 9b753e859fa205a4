from functools import partial

import torch
from torch import nn

make = partial(nn.Linear, bias=False)
encode, refine, decode = make(6, 4), make(4, 4), make(4, 6)
optimizer = torch.optim.Adam([*encode.parameters(), *refine.parameters(), *decode.parameters()], lr=1e-3)


def reconstruct(x, stages):
    h = encode(x)
    for stage in stages:
        h = h + stage(h).tanh()
    return decode(h)


for step in range(14):
    x = torch.randn(8, 6)
    loss = (reconstruct(x, [refine] if step > 8 else []) - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
