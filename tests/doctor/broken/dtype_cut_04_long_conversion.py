# code: dtype_cut
import torch
from torch import nn


class Rating(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(5, 1)

    def forward(self, x):
        stars = 5 * torch.sigmoid(self.lin(x))
        return stars.long()  # LINE


model = Rating()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    stars = model(torch.randn(4, 5))
    loss = (stars.float() - 3.0).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
