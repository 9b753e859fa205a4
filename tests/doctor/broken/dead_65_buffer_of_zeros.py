# code: dead_gradient
import torch
from torch import nn

torch.manual_seed(0)


class MaskedLinear(nn.Linear):
    def __init__(self, n_in, n_out, degrees_in, degrees_out):
        super().__init__(n_in, n_out)
        self.register_buffer("mask", (degrees_out[:, None] < degrees_in[None, :] - 10).float())  # ALSO

    def forward(self, x):
        weight = self.weight * self.mask  # LINE
        return nn.functional.linear(x, weight, self.bias)


d = torch.arange(1, 5)
h = torch.arange(16) % 4
made = nn.Sequential(MaskedLinear(4, 16, d, h), nn.ReLU(), nn.Linear(16, 4))
opt = torch.optim.Adam(made.parameters(), lr=1e-3)
for step in range(30):
    x = torch.randn(32, 4)
    loss = (made(x) - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
