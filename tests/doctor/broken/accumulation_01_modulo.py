# code: grad_accumulation_scaling
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randint(0, 3, (64,))), batch_size=8)
accumulation = 4
optimizer.zero_grad()
for i, (inputs, labels) in enumerate(loader):
    loss = criterion(model(inputs), labels)
    loss.backward()  # LINE
    if (i + 1) % accumulation == 0:
        optimizer.step()
        optimizer.zero_grad()
