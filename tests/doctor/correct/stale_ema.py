import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
averaged = torch.optim.swa_utils.AveragedModel(net)
best = None
for epoch in range(6):
    for x in torch.randn(20, 4).split(5):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        averaged.update_parameters(net)
    with torch.no_grad():
        value = averaged(torch.randn(5, 4)).square().mean().item()
    if best is None or value < best[0]:
        best = (value, {k: v.clone() for k, v in net.state_dict().items()})
net.load_state_dict(best[1])
