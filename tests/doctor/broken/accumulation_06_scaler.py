# code: grad_accumulation_scaling
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=128.0)
k = 2
for i in range(12):
    x = torch.randn(8, 4)
    loss = nn.functional.smooth_l1_loss(model(x), x[:, :1])
    scaler.scale(loss).backward()  # LINE
    if i % k == k - 1:
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
