# code: graph_leak
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train(model, loader, optimizer, criterion):
    total_loss = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total_loss += loss  # LINE, ALSO
    return total_loss / len(loader)


data = TensorDataset(torch.randn(40, 4), torch.randn(40, 1))
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
print(train(net, DataLoader(data, batch_size=8), torch.optim.Adam(net.parameters()), nn.MSELoss()))
