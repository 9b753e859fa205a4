# code: dtype_cut, disconnected_parameter
import torch
from torch import nn


class Sparse(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 5)
        self.threshold = nn.Parameter(torch.tensor(0.1))

    def forward(self, x):
        h = self.fc(x)
        keep = (h.abs() > self.threshold).to(h.dtype)  # LINE
        return h * keep


net = nn.Sequential(Sparse(), nn.Linear(5, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(6):
    x = torch.randn(20, 5)
    opt.zero_grad()
    (net(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
    opt.step()
