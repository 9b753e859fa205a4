# code: graph_leak
import torch
import torch.nn.functional as F
from torch import nn


class AE(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.d = nn.Linear(6, 2), nn.Linear(2, 6)

    def losses(self, x):
        z = self.e(x)
        return {"rec": F.mse_loss(self.d(z), x), "reg": z.pow(2).mean()}  # LINE


ae = AE()
opt = torch.optim.Adam(ae.parameters())
logs = {"rec": [], "reg": []}
for step in range(4):
    parts = ae.losses(torch.randn(5, 6))
    sum(parts.values()).backward()
    opt.step()
    opt.zero_grad()
    for k, v in parts.items():
        logs[k].append(v)  # ALSO
