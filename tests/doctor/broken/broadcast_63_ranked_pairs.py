# code: silent_broadcast_loss
import torch
import torch.nn.functional as F
from torch import nn

score = nn.Linear(6, 1)
opt = torch.optim.Adam(score.parameters())
for step in range(4):
    pos, neg = torch.randn(12, 6), torch.randn(12, 6)
    p = score(pos)
    n = score(neg).squeeze()
    loss = -F.logsigmoid(p - n).mean()  # LINE
    opt.zero_grad()
    loss.backward()
    opt.step()
