import threading

import torch
import torch.nn as nn

results = {}


def work(seed):
    g = torch.Generator().manual_seed(seed)
    net = nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.05)
    for _ in range(20):
        x = torch.randn(8, 3, generator=g)
        opt.zero_grad()
        loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
        loss.backward()
        opt.step()
    results[seed] = loss.item()


ts = [threading.Thread(target=work, args=(i,)) for i in range(3)]
[t.start() for t in ts]
[t.join() for t in ts]
assert len(results) == 3
