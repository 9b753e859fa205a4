# code: disconnected_parameter
import torch
import torch.nn as nn


class Prototype(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.embed = nn.Linear(d, d)
        self.prototypes = 0.1 * torch.randn(n, d, requires_grad=True)  # LINE

    def forward(self, x):
        return -torch.cdist(self.embed(x), self.prototypes)


model = Prototype(4, 6)
opt = torch.optim.SGD(model.parameters(), lr=0.1)  # ALSO
for i in range(20):
    x, y = torch.randn(12, 6), torch.randint(0, 4, (12,))
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
