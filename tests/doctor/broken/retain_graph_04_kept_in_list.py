# code: retain_graph_leak, graph_leak
import torch
from torch import nn

net = nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
outputs = []


def step(x):
    y = net(x).tanh()
    outputs.append(y)  # ALSO
    loss = y.pow(2).sum()
    opt.zero_grad()
    loss.backward(retain_graph=True)  # LINE
    opt.step()
    return loss.item()


for i in range(6):
    step(torch.randn(2, 3))
