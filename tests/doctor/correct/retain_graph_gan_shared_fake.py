import torch
from torch import nn

G, D = nn.Linear(2, 4), nn.Linear(4, 1)
opt_g, opt_d = torch.optim.SGD(G.parameters(), lr=0.01), torch.optim.SGD(D.parameters(), lr=0.01)
for step in range(8):
    fake = G(torch.randn(6, 2))
    d_loss = D(fake).mean() - D(torch.randn(6, 4)).mean()
    opt_d.zero_grad()
    d_loss.backward(retain_graph=True)
    opt_d.step()
    if step % 4 == 3:  # the generator learns less often
        g_loss = -D(fake).mean()
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()
