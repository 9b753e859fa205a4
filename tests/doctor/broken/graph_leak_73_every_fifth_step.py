# code: graph_leak
import torch
from torch import nn

# slow leak: every 5th step into a dict of best states
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
checkpoints = {}
for i in range(60):
    x, y = torch.randn(6, 4), torch.randint(2, (6,))
    loss = nn.functional.cross_entropy(net(x), y)  # LINE
    opt.zero_grad()
    loss.backward()
    opt.step()
    if i % 5 == 0:
        checkpoints[i] = {"loss": loss, "state": {k: v.clone() for k, v in net.state_dict().items()}}  # ALSO
