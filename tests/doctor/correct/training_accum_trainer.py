import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
o = torch.optim.SGD(net.parameters(), 0.1)
N = 4
data = [(torch.randn(8, 4), torch.randint(0, 2, (8,))) for _ in range(24)]
for i, (x, y) in enumerate(data):
    l = nn.functional.cross_entropy(net(x), y)
    l = l / N
    l.backward()
    if (i + 1) % N == 0 or i + 1 == len(data):
        o.step()
        o.zero_grad()
sc = torch.amp.GradScaler("cpu")
for i, (x, y) in enumerate(data):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        l = nn.functional.cross_entropy(net(x), y) / N
    sc.scale(l).backward()
    if (i + 1) % N == 0:
        sc.unscale_(o)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        sc.step(o)
        sc.update()
        o.zero_grad()
# token-level normalisation
for b in range(4):
    o.zero_grad()
    tot = sum(len(y) for x, y in data[b * 4 : b * 4 + 4])
    for x, y in data[b * 4 : b * 4 + 4]:
        (nn.functional.cross_entropy(net(x), y, reduction="none").sum() / tot).backward()
    o.step()
for b in range(4):
    o.zero_grad()
    for x, y in data[b * 4 : b * 4 + 4]:
        (nn.functional.cross_entropy(net(x), y) * len(y) / 32).backward()
    o.step()
