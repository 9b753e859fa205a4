# code: retain_graph_leak
import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.RNNCell(3, 5)
        self.out = nn.Linear(5, 1)

    def forward(self, x, h):
        h = self.cell(x, h)  # ALSO
        return self.out(h), h


model = Reader()
optimizer = torch.optim.SGD(model.out.parameters(), lr=0.01)
h = torch.zeros(2, 5)
for chunk in range(6):
    x, y = torch.randn(2, 3), torch.randn(2, 1)
    out, h = model(x, h)
    loss = nn.functional.mse_loss(out, y)
    optimizer.zero_grad()
    loss.backward(retain_graph=True)  # LINE
    optimizer.step()
