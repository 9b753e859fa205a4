# code: missing_zero_grad
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
log_scale = nn.Parameter(torch.zeros(3))
optimizer = torch.optim.AdamW([{"params": net.parameters()}, {"params": [log_scale], "lr": 1e-2}], lr=1e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
for i in range(6):
    net.zero_grad()  # ALSO
    residual = net(torch.randn(9, 4)) * torch.exp(-log_scale)
    loss = residual.pow(2).mean() + log_scale.mean()
    loss.backward()  # LINE
    optimizer.step()
    scheduler.step()
