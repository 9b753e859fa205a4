# code: mode_confusion
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU())
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        return self.head(self.features(x))


def train(model, loader, epochs=2):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    model.train()
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)  # ALSO
            loss.backward()
            optimizer.step()


@torch.no_grad()
def evaluate(model, loader):
    total = 0.0
    for x, y in loader:
        total += nn.functional.mse_loss(model(x), y).item()  # LINE
    return total / len(loader)


data = TensorDataset(torch.randn(24, 3), torch.randn(24, 1))
net = Net()
train(net, DataLoader(data, batch_size=6, shuffle=True))
print(evaluate(net, DataLoader(data, batch_size=6)))
