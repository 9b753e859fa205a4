import torch
from torch import nn


class Drop(nn.Module):
    def __init__(self, layer, p):
        super().__init__()
        self.layer, self.p = layer, p

    def forward(self, x):
        keep = (torch.rand(()) > self.p).float() if self.training else 1 - self.p
        return x + keep * self.layer(x)


torch.manual_seed(0)
body = nn.Sequential(*[Drop(nn.Linear(4, 4), 0.6) for _ in range(4)])
mean, spread = nn.Linear(4, 2), nn.Linear(4, 2)
optimizer = torch.optim.Adam([*body.parameters(), *mean.parameters(), *spread.parameters()])
for i in range(40):
    x = torch.randn(6, 4)
    h = body(x)
    kl_weight = 0.0 if i < 20 else 0.1
    kl = (spread(h).exp() - spread(h)).mean()
    loss = mean(h).pow(2).mean() + kl_weight * kl
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
