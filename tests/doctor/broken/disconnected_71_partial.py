# code: disconnected_parameter
from functools import partial

import torch
from torch import nn

make = partial(nn.Linear, bias=False)
q, k, v = make(6, 6), make(6, 6), make(6, 6)  # LINE
params = [*q.parameters(), *k.parameters(), *v.parameters()]
opt = torch.optim.Adam(params, lr=1e-3)  # ALSO
for i in range(6):
    x = torch.randn(2, 4, 6)
    att = torch.softmax(q(x) @ q(x).transpose(1, 2) / 6**0.5, -1)
    loss = (att @ v(x) - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
