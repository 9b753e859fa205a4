import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def evaluate():
    model.eval()
    with torch.no_grad():
        x, y = torch.randn(16, 4), torch.randint(0, 2, (16,))
        accuracy = (model(x).argmax(1) == y).float().mean().item()
    model.train()
    return accuracy


best = 0.0
for epoch in range(4):
    for _ in range(3):
        loss = nn.functional.cross_entropy(model(torch.randn(8, 4)), torch.randint(0, 2, (8,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    best = max(best, evaluate())
