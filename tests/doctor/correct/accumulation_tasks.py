import torch
from torch import nn

torch.manual_seed(0)
trunk = nn.Linear(4, 6)
heads = nn.ModuleDict({"a": nn.Linear(6, 1), "b": nn.Linear(6, 1)})
optimizer = torch.optim.SGD([*trunk.parameters(), *heads.parameters()], lr=0.05)
for _ in range(5):  # each task has a loss of its own, and the sum is meant
    optimizer.zero_grad()
    for name, head in heads.items():
        x = torch.randn(8, 4)
        nn.functional.mse_loss(head(trunk(x)), x[:, :1]).backward()
    optimizer.step()
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(5):
    optimizer.zero_grad()
    for domain in range(3):
        x = torch.randn(8, 4) + domain
        nn.functional.mse_loss(net(x), x[:, :1]).backward()
    optimizer.step()
for _ in range(5):
    optimizer.zero_grad()
    for x, sign in ((torch.randn(8, 4), 1.0), (torch.randn(8, 4), -1.0)):
        nn.functional.softplus(sign * net(x)).mean().backward()
    optimizer.step()


def adversarial(x, label):
    nn.functional.binary_cross_entropy_with_logits(net(x), torch.full((8, 1), label)).backward()


for _ in range(5):
    optimizer.zero_grad()
    adversarial(torch.randn(8, 4), 1.0)
    adversarial(torch.randn(8, 4) + 1, 0.0)
    optimizer.step()
