import torch
from torch import nn

cell, head = nn.LSTMCell(4, 8), nn.Linear(8, 4)
optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=1e-3)
sequence = torch.randn(40, 2, 4)
h, c = torch.zeros(2, 8), torch.zeros(2, 8)
states = []
loss = 0.0
for t in range(39):
    h, c = cell(sequence[t], (h, c))
    loss = loss + nn.functional.mse_loss(head(h), sequence[t + 1])
    if (t + 1) % 5 == 0:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        h, c = h.detach(), c.detach()
        states.append((h, c))
        loss = 0.0
