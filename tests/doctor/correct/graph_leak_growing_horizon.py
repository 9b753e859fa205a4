import torch
from torch import nn

# curriculum: sequence length grows every step, so graphs grow
rnn = nn.GRUCell(2, 4)
out = nn.Linear(4, 1)
opt = torch.optim.Adam([*rnn.parameters(), *out.parameters()])
for step in range(1, 25):
    h = torch.zeros(3, 4)
    for t in range(step):
        h = rnn(torch.randn(3, 2), h)
    loss = out(h).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
