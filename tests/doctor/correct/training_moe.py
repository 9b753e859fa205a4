import torch
from torch import nn

torch.manual_seed(1)


class MoE(nn.Module):
    def __init__(s):
        super().__init__()
        s.gate = nn.Linear(4, 6)
        s.experts = nn.ModuleList([nn.Linear(4, 4) for _ in range(6)])
        s.out = nn.Linear(4, 1)

    def forward(s, x):
        w = s.gate(x).softmax(-1)
        top = w.argmax(-1)
        y = torch.zeros_like(x)
        for i, e in enumerate(s.experts):
            m = top == i
            if m.any():
                y[m] = w[m][:, i : i + 1] * e(x[m])
        return s.out(y)


m = MoE()
o = torch.optim.Adam(m.parameters(), 1e-3)
for i in range(10):
    x = torch.randn(3, 4) * 0.1 + 1
    o.zero_grad()
    (m(x) - 1).pow(2).mean().backward()
    o.step()
