# code: grad_accumulation_scaling
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 10), nn.Tanh(), nn.Linear(10, 2))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)


def batch():
    x = torch.randn(8, 6)
    return x, (x[:, 0] > 0).long()


for step in range(5):
    optimizer.zero_grad()
    for micro in range(3):
        x, y = batch()
        loss = F.cross_entropy(net(x), y)
        loss.backward()  # LINE
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
