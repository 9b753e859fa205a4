# code: exploding_gradient
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
for i in range(6):
    x = torch.randn(8, 2)
    scale = 1.0 if i < 4 else 5000.0
    loss = nn.functional.mse_loss(net(x) * scale, x[:, :1] * scale)
    opt.zero_grad()
    loss.backward()  # LINE
    opt.step()
