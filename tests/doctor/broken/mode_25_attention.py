# code: mode_confusion
import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, d, p):
        super().__init__()
        self.qkv, self.p = nn.Linear(d, 3 * d), p

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        return x + F.scaled_dot_product_attention(q, k, v, dropout_p=self.p)


model = nn.Sequential(Attention(8, 0.2), nn.Linear(8, 8))
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(8):
    x = torch.randn(2, 5, 8)
    loss = F.mse_loss(model(x), x.roll(1, 1))  # ALSO
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
model.eval()
with torch.no_grad():
    x = torch.randn(4, 5, 8)
    print(F.mse_loss(model(x), x.roll(1, 1)).item())  # LINE
