# code: retain_graph_leak
import torch
from torch import nn

# generator loss backward leaves grads in D which are zeroed before D's own backward
G, D = nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
go, do = torch.optim.SGD(G.parameters(), 0.01), torch.optim.SGD(D.parameters(), 0.01)
bce = nn.BCEWithLogitsLoss()
one, zero = torch.ones(8, 1), torch.zeros(8, 1)
for it in range(8):
    fake = G(torch.randn(8, 2))
    go.zero_grad()
    bce(D(fake), one).backward(retain_graph=True)  # LINE
    do.zero_grad()
    (bce(D(torch.randn(8, 2) + 3), one) + bce(D(fake.detach()), zero)).backward()
    go.step()
    do.step()
