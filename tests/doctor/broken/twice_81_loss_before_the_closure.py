# code: backward_twice
import torch
import torch.nn as nn

net = nn.Linear(3, 1)
opt = torch.optim.LBFGS(net.parameters(), max_iter=5)
x = torch.randn(20, 3)
for epoch in range(3):
    loss = (net(x) - x[:, :1] ** 2).pow(2).mean()  # ALSO

    def closure():
        opt.zero_grad()
        loss.backward()  # LINE
        return loss

    opt.step(closure)
