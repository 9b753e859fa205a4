import torch
import torch.nn.functional as F
from torch import nn


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 6))

    def forward(self, x):
        return self.net(x)


model = Denoiser()
opt = torch.optim.AdamW(model.parameters())
for _ in range(8):
    x = torch.randn(16, 6)
    noisy = F.dropout(x, 0.3)
    loss = F.mse_loss(model(noisy), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
model.eval()
with torch.no_grad():
    x = torch.randn(16, 6)
    print(F.mse_loss(model(F.dropout(x, 0.3)), x).item())
