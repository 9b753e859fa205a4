# code: nan_origin
import torch
from torch import nn

torch.manual_seed(0)
lin = nn.Linear(4, 4)
opt = torch.optim.Adam(lin.parameters(), lr=1e-2)
for step in range(40):
    x = torch.randn(8, 4)
    present = torch.ones(8, 4)
    h = torch.nn.functional.softplus(lin(x))
    if step == 34:
        present[:, 1] = 0
        h = h * present
    information = h * h.log()  # LINE
    loss = (torch.where(present > 0, information, 0.0) ** 2).mean() + h.pow(2).mean().sqrt()
    opt.zero_grad()
    loss.backward()
    opt.step()
