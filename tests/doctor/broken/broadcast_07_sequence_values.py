# code: silent_broadcast_loss
import torch
from torch import nn

rnn, head = nn.GRU(2, 4, batch_first=True), nn.Linear(4, 1)
params = [*rnn.parameters(), *head.parameters()]
opt = torch.optim.SGD(params, lr=0.01)
for _ in range(4):
    sequence, value = torch.randn(7, 5, 2), torch.randn(7)
    states, _ = rnn(sequence)
    predicted = head(states[:, -1])
    difference = predicted - value  # LINE
    loss = torch.mean(difference.pow(2)) + 1e-4 * sum(p.pow(2).sum() for p in params)
    opt.zero_grad()
    loss.backward()
    opt.step()
