import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
x, y = torch.randn(32, 3), torch.randn(32, 1)
for _ in range(20):
    opt.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    opt.step()


def draw(model, point):
    with torch.no_grad():
        return model(point).mean().item()


point = torch.randn(1, 3)
draws = [draw(net, point) for _ in range(50)]
print(min(draws), max(draws))
