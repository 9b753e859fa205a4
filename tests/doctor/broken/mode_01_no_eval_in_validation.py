# code: mode_confusion
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(32, 4), torch.randint(0, 2, (32,))
for epoch in range(3):
    for i in range(0, 32, 8):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[i : i + 8]), y[i : i + 8])  # ALSO
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        correct = 0
        for i in range(0, 32, 8):
            prediction = model(x[i : i + 8]).argmax(1)  # LINE
            correct += (prediction == y[i : i + 8]).sum().item()
    print(epoch, correct / 32)
