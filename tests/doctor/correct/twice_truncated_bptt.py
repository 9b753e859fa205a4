import torch
from torch import nn

lstm, head = nn.LSTM(2, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*lstm.parameters(), *head.parameters()], lr=0.1)
state = None
for _ in range(6):
    if state is not None:
        state = tuple(s.detach() for s in state)
    out, state = lstm(torch.randn(5, 3, 2), state)
    optimizer.zero_grad()
    head(out).pow(2).mean().backward()
    optimizer.step()
