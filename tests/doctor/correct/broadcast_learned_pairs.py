import torch
from torch import nn

pos_net, w_net = nn.Linear(3, 1), nn.Linear(3, 1)
opt = torch.optim.Adam([*pos_net.parameters(), *w_net.parameters()], lr=1e-3)
for _ in range(5):
    z = torch.randn(9, 3)
    p = pos_net(z)
    w = torch.sigmoid(w_net(z))
    d = (p - p.transpose(0, 1)).abs() + 0.1
    energy = (w @ w.t() / d).triu(1).sum()
    q = p.squeeze(-1)
    rank = torch.sigmoid(q.view(-1, 1) - q).sum()
    rows = q.reshape(9, 1)
    spread = (rows - q).pow(2).mean()
    loss = energy + 0.1 * rank + spread
    opt.zero_grad()
    loss.backward()
    opt.step()
