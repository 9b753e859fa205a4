# code: grad_accumulation_scaling
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
data = torch.randn(40, 4)
goal = data[:, :1] - data[:, 1:2]
accum_steps = 5
for epoch in range(2):
    for i in range(0, 40, 4):
        x, y = data[i : i + 4], goal[i : i + 4]
        error = 0.5 * (model(x) - y).pow(2).mean()
        loss = error + 1e-4 * model.weight.pow(2).sum()
        loss.backward()  # LINE
        if (i // 4 + 1) % accum_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
