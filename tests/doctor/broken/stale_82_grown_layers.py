# code: stale_optimizer, disconnected_parameter
import torch
import torch.nn as nn


class Growing(nn.Module):
    def __init__(self, h=4):
        super().__init__()
        self.l1 = nn.Linear(3, h)
        self.l2 = nn.Linear(h, 1)

    def forward(self, x):
        return self.l2(torch.tanh(self.l1(x)))

    @torch.no_grad()
    def grow(self, extra):
        old1, old2 = self.l1, self.l2
        h = old1.out_features
        self.l1 = nn.Linear(3, h + extra)  # ALSO
        self.l2 = nn.Linear(h + extra, 1)
        self.l1.weight[:h], self.l1.bias[:h] = old1.weight, old1.bias
        self.l2.weight[:, :h] = old2.weight


model = Growing()
opt = torch.optim.SGD(model.parameters(), lr=0.05)  # LINE
for step in range(40):
    if step == 20:
        model.grow(4)
    x = torch.randn(16, 3)
    loss = (model(x) - torch.sin(x).sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
