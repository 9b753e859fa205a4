# code: nan_origin
import torch
from torch import nn

client, server = nn.Linear(4, 3), nn.Linear(3, 1)
opt = torch.optim.SGD([*client.parameters(), *server.parameters()], lr=0.1)
for _ in range(3):
    smashed = torch.relu(client(torch.randn(5, 4)))
    received = smashed.detach().requires_grad_()
    opt.zero_grad()
    server(received).square().mean().backward()
    smashed.backward(received.grad / received.grad.norm(dim=1, keepdim=True).sub(received.grad.norm(dim=1, keepdim=True)))  # LINE
    opt.step()
