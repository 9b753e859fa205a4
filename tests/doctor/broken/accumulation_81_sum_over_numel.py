# code: grad_accumulation_scaling
import torch
import torch.nn as nn
import torch.nn.functional as F

ae = nn.Sequential(nn.Linear(12, 4), nn.Tanh(), nn.Linear(4, 12))
opt = torch.optim.SGD(ae.parameters(), lr=0.1)
for it in range(10):
    full = torch.randn(32, 12)
    opt.zero_grad()
    for part in torch.split(full, 8):
        err = F.mse_loss(ae(part), part, reduction="sum") / part.numel()
        err.backward()  # LINE
    opt.step()
