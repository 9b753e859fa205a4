# code: exploding_gradient
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.layers(x).squeeze(-1)


def train_epoch(model, loader, optimizer):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()  # LINE
        optimizer.step()


x = torch.randn(400, 3)
y = x.sum(1)
y[333] = 1e6  # a broken label
model = Regressor()
train_epoch(model, DataLoader(TensorDataset(x, y), batch_size=8), torch.optim.Adam(model.parameters(), lr=1e-3))
