# code: missing_zero_grad
import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(2, 4)
        self.out = nn.Linear(4, 1)

    def forward(self, sequence):
        h = torch.zeros(sequence.shape[1], 4)
        for x in sequence:
            h = self.cell(x, h)
        return self.out(h)


def batches(n):
    for _ in range(n):
        yield torch.randn(5, 3, 2), torch.randn(3, 1)


torch.manual_seed(0)
model = Cell()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for i, (seq, goal) in enumerate(batches(12)):
    if i % 10 == 0:
        optimizer.zero_grad()  # ALSO
    loss = (model(seq) - goal).abs().mean()
    loss.backward()  # LINE
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
