# code: backward_twice
import torch
from torch import nn


class Rnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.RNNCell(3, 6)
        self.out = nn.Linear(6, 1)


model = Rnn()
optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
hidden = torch.zeros(4, 6)
for chunk in torch.randn(6, 4, 3):
    optimizer.zero_grad()
    hidden = model.cell(chunk, hidden)  # ALSO
    loss = model.out(hidden).pow(2).mean()
    loss.backward()  # LINE
    optimizer.step()
