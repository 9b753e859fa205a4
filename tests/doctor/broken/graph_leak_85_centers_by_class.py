# code: graph_leak
import torch
import torch.nn as nn
import torch.nn.functional as F

centers = {}
embed = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
head = nn.Linear(4, 3)
opt = torch.optim.Adam(list(embed.parameters()) + list(head.parameters()), lr=1e-2)
for it in range(20):
    x = torch.randn(24, 6)
    y = x[:, :3].argmax(1)
    f = embed(x)
    loss = F.cross_entropy(head(f), y)
    for c in y.unique().tolist():
        mean = f[y == c].mean(0)
        if c in centers:
            loss = loss + 0.01 * (mean - centers[c].detach()).pow(2).sum()
            centers[c] = 0.9 * centers[c] + 0.1 * mean  # LINE, ALSO
        else:
            centers[c] = mean
    opt.zero_grad()
    loss.backward()
    opt.step()
