# code: mode_confusion, graph_leak
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    loss = model(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

model.eval()
outputs = []
for batch in range(8):
    out = model(torch.randn(8, 4))  # LINE
    outputs.append(out)  # ALSO
print(torch.cat(outputs).mean().item())
