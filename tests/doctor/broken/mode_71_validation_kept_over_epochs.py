# code: mode_confusion, graph_leak
import torch
from torch import nn

net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Dropout(0.1), nn.Linear(12, 1))
opt = torch.optim.Adam(net.parameters(), 1e-3)
x, y = torch.randn(80, 6), torch.randn(80, 1)
history = {"train": [], "val": []}
for epoch in range(6):
    net.train()
    for i in range(0, 64, 16):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x[i : i + 16]), y[i : i + 16])
        loss.backward()
        opt.step()
    history["train"].append(loss.item())
    net.eval()
    val = nn.functional.mse_loss(net(x[64:]), y[64:])  # LINE
    history["val"].append(val)  # ALSO
