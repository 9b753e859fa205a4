import torch
from torch import nn

q = nn.Linear(4, 4)
optimizer = torch.optim.Adam(q.parameters())
causal = torch.full((5, 5), float("-inf")).triu(1)
for _ in range(6):
    x = torch.randn(2, 5, 4)
    scores = q(x) @ x.transpose(1, 2) + causal
    loss = (scores.softmax(-1) @ x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    weights = torch.log(torch.eye(5)) + q(x[0]) @ x[0].T
    optimizer.zero_grad()
    torch.logsumexp(weights, -1).sum().backward()
    optimizer.step()
