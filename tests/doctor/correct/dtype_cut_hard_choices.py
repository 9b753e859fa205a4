import torch
import torch.nn.functional as F
from torch import nn

gate, experts, codes = nn.Linear(4, 3), nn.ModuleList([nn.Linear(4, 4) for _ in range(3)]), nn.Embedding(5, 4)
opt = torch.optim.Adam([*gate.parameters(), *experts.parameters(), *codes.parameters()])
for _ in range(10):
    x = torch.randn(24, 4)
    weights = gate(x).softmax(-1)
    top, index = weights.topk(2, dim=-1)
    top = top / top.sum(-1, keepdim=True)
    out = sum(((index == i) * top).sum(-1, keepdim=True) * expert(x) for i, expert in enumerate(experts))
    nearest = torch.cdist(out.detach(), codes.weight.detach()).argmin(-1)
    quantised = codes(nearest)
    commitment = (out - quantised.detach()).square().mean() + (quantised - out.detach()).square().mean()
    through = out + (quantised - out).detach()
    pick = F.gumbel_softmax(gate(x), hard=True)
    balance = (pick.mean(0) * weights.mean(0)).sum()
    loss = (through - x).abs().mean() + commitment + 0.1 * balance
    opt.zero_grad()
    loss.backward()
    opt.step()
