import torch
from torch import nn

torch.manual_seed(0)
# a network for a differential equation: the points require grad, and are no parameters
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
x = torch.linspace(0, 1, 12).view(-1, 1).requires_grad_()
t = torch.rand(12, 1, requires_grad=True)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(6):
    optimizer.zero_grad()
    u = net(torch.cat([x, t], 1))
    u_x, u_t = torch.autograd.grad(u.sum(), (x, t), create_graph=True)
    loss = (u_t + u_x).pow(2).mean() + (u - x).pow(2).mean()
    loss.backward()
    optimizer.step()

# inputs that require grad for no reason
for _ in range(6):
    optimizer.zero_grad()
    net(torch.cat([x, t * 2], 1)).mean().backward()
    optimizer.step()

# a latent code is fitted; the generator stays as it is
z = torch.zeros(4, 2, requires_grad=True)
fit = torch.optim.Adam([z], lr=0.1)
for _ in range(6):
    fit.zero_grad()
    (net(z) - 1).pow(2).mean().backward()
    fit.step()
