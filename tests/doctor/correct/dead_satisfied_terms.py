import torch
from torch import nn

task = nn.Linear(4, 2)
guard = nn.Linear(4, 1)
a, b = nn.Linear(4, 1), nn.Linear(4, 1)
with torch.no_grad():
    b.bias.fill_(30.0)
opt = torch.optim.SGD([*task.parameters(), *guard.parameters(), *a.parameters(), *b.parameters()], lr=0.05)
for step in range(8):
    x, y = torch.randn(10, 4), torch.randint(0, 2, (10,))
    penalty = torch.relu(guard(x) - 50).mean()
    ranking = torch.clamp(1 - b(x), min=0).mean() + torch.relu(1 - a(x)).mean()
    loss = nn.functional.cross_entropy(task(x), y) + 0.1 * penalty + ranking
    opt.zero_grad()
    loss.backward()
    opt.step()
