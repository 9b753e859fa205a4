import torch
from torch import nn

q = nn.Linear(2, 3)
target = nn.Linear(2, 3)
target.load_state_dict(q.state_dict())
optimizer = torch.optim.SGD(q.parameters(), lr=0.05)
memory = torch.zeros(32, 2)
for t in range(12):
    memory[t] = torch.randn(2)
    batch = memory[: t + 1][torch.randint(0, t + 1, (4,))]
    with torch.no_grad():
        goal = target(batch).max(1).values
    loss = (q(batch).max(1).values - goal - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p, tp in zip(q.parameters(), target.parameters()):
            tp.mul_(0.9).add_(0.1 * p)
