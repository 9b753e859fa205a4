import torch
from torch import nn

# MoCo queue written in place after use
enc, key = nn.Linear(4, 6), nn.Linear(4, 6)
key.load_state_dict(enc.state_dict())
key.requires_grad_(False)
queue = nn.functional.normalize(torch.randn(6, 32), dim=0)
ptr = 0
opt = torch.optim.SGD(enc.parameters(), 0.05)
for i in range(10):
    x = torch.randn(8, 4)
    q = nn.functional.normalize(enc(x), dim=1)
    with torch.no_grad():
        k = nn.functional.normalize(key(x + 0.1 * torch.randn_like(x)), dim=1)
    logits = torch.cat([(q * k).sum(1, keepdim=True), q @ queue.clone().detach()], 1) / 0.2
    loss = nn.functional.cross_entropy(logits, torch.zeros(8, dtype=torch.long))
    opt.zero_grad()
    loss.backward()
    opt.step()
    queue[:, ptr : ptr + 8] = k.T
    ptr = (ptr + 8) % 32
    with torch.no_grad():
        for a, b in zip(key.parameters(), enc.parameters()):
            a.mul_(0.99).add_(b, alpha=0.01)
