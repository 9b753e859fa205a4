import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, update_bn

model = nn.Sequential(nn.Linear(3, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 1))
average = AveragedModel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
batches = [torch.randn(8, 3) for _ in range(4)]
for epoch in range(3):
    for x in batches:
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    average.update_parameters(model)
update_bn(batches, average)
with torch.no_grad():  # statistics of the trained weights
    for x in batches:
        model(x)
average.eval()
with torch.no_grad():
    print((average(batches[0]) - 1).abs().mean().item())
