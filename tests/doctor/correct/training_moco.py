import copy

import torch
from torch import nn

torch.manual_seed(0)
q = nn.Linear(8, 4)
k = copy.deepcopy(q)
for p in k.parameters():
    p.requires_grad = False
queue = nn.functional.normalize(torch.randn(4, 32), dim=0)
opt = torch.optim.SGD(q.parameters(), 0.03, momentum=0.9, weight_decay=1e-4)
for i in range(12):
    x = torch.randn(8, 8)
    a = nn.functional.normalize(q(x + 0.1 * torch.randn_like(x)), dim=1)
    with torch.no_grad():
        for pk, pq in zip(k.parameters(), q.parameters()):
            pk.data = pk.data * 0.99 + pq.data * 0.01
        b = nn.functional.normalize(k(x), dim=1)
    logits = torch.cat([(a * b).sum(1, keepdim=True), a @ queue.clone().detach()], 1) / 0.07
    loss = nn.functional.cross_entropy(logits, torch.zeros(8, dtype=torch.long))
    opt.zero_grad()
    loss.backward()
    opt.step()
    queue = torch.cat([b.t(), queue], 1)[:, :32]
