# code: mode_confusion, graph_leak
import torch
from torch import nn


def run(epochs=3):
    model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters())
    criterion = nn.MSELoss()
    train_set = [(torch.randn(4, 2), torch.randn(4, 1)) for _ in range(4)]
    val_set = [(torch.randn(4, 2), torch.randn(4, 1)) for _ in range(5)]
    for epoch in range(epochs):
        model.train()
        for x, y in train_set:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        model.eval()
        val_loss = 0.0
        for x, y in val_set:
            pred = model(x)  # LINE
            val_loss += criterion(pred, y)  # ALSO
        print(epoch, float(val_loss) / len(val_set))


run()
