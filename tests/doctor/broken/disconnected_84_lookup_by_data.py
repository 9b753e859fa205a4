# code: disconnected_parameter
import torch
import torch.nn as nn


class MF(nn.Module):
    def __init__(self, users, items, k=4):
        super().__init__()
        self.user = nn.Embedding(users, k)
        self.item = nn.Embedding(items, k)  # LINE
        self.bias = nn.Parameter(torch.zeros(users))

    def forward(self, u, i):
        return (self.user(u) * self.item.weight.data[i]).sum(1) + self.bias[u]


mf = MF(10, 12)
opt = torch.optim.SGD(mf.parameters(), lr=0.1)  # ALSO
for _ in range(12):
    u, i = torch.randint(0, 10, (16,)), torch.randint(0, 12, (16,))
    loss = (mf(u, i) - ((u + i) % 5).float()).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
