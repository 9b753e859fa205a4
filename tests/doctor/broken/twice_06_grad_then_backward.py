# code: backward_twice
import torch

net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Softplus(), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters())
for _ in range(3):
    x = torch.randn(6, 2, requires_grad=True)
    u = net(x)  # ALSO
    du = torch.autograd.grad(u.sum(), x)[0]
    loss = (u**2).mean()
    optimizer.zero_grad()
    loss.backward()  # LINE
    optimizer.step()
