import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm, weight_norm

net = nn.Sequential(weight_norm(nn.Linear(4, 8)), nn.LeakyReLU(), spectral_norm(nn.Linear(8, 1)))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(8):
    x = torch.randn(16, 4)
    loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step == 4:
        net.append(nn.Linear(1, 1))
        opt.add_param_group({"params": net[-1].parameters()})
net.eval()
with torch.no_grad():
    print(net(torch.randn(2, 4)).mean().item())
