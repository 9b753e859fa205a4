# code: retain_graph_leak
import torch
from torch import nn

use_amp = False
W = nn.Parameter(torch.zeros(5, 1))
opt = torch.optim.SGD([W], lr=0.01)
scaler = torch.amp.GradScaler("cpu", enabled=use_amp)
state = torch.zeros(8, 1)
for t in range(6):
    x = torch.randn(8, 5)
    state = 0.5 * state + x @ W  # ALSO
    loss = (state - x[:, :1]).abs().mean()
    opt.zero_grad()
    if use_amp:
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
    else:
        loss.backward(retain_graph=True)  # LINE
        opt.step()
