# code: graph_leak
import functools

import torch
import torch.nn as nn

log_temp = nn.Parameter(torch.zeros(()))
net = nn.Linear(8, 4)


@functools.cache
def temperature(step):
    return log_temp.exp() * (1.0 + 0.01 * step)  # LINE


opt = torch.optim.SGD([log_temp, *net.parameters()], lr=0.05)
for step in range(50):
    x = torch.randn(16, 8)
    y = x[:, :4].argmax(1)
    logits = net(x) / temperature(step)
    loss = nn.functional.cross_entropy(logits, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
