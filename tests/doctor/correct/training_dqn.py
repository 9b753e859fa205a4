import copy
import random

import torch
from torch import nn

torch.manual_seed(0)
q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
tgt = copy.deepcopy(q)
for p in tgt.parameters():
    p.requires_grad = False
opt = torch.optim.RMSprop(q.parameters())
buf = []
for i in range(60):
    buf.append((torch.randn(4), random.randrange(2), random.random(), torch.randn(4)))
    if len(buf) < 8:
        continue
    s, a, r, n = zip(*random.sample(buf, 8))
    s = torch.stack(s)
    n = torch.stack(n)
    a = torch.tensor(a)
    r = torch.tensor(r)
    with torch.no_grad():
        y = r + 0.9 * tgt(n).max(1).values
    loss = nn.functional.huber_loss(q(s).gather(1, a[:, None]).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(q.parameters(), 1)
    opt.step()
    if i % 10 == 0:
        tgt.load_state_dict(q.state_dict())
