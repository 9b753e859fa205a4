import torch
from torch import nn

torch.manual_seed(0)
emb = nn.Embedding(30, 6)
rel = nn.Embedding(4, 6)
opt = torch.optim.Adagrad([*emb.parameters(), *rel.parameters()], lr=0.1)


def distance(h, r, t):
    return (emb(h) * rel(r) - emb(t)).norm(dim=1)


def renormalise():
    rel.weight.data /= rel.weight.data.norm(dim=1, keepdim=True)


for step in range(20):
    h, r, t = torch.randint(0, 30, (10,)), torch.randint(0, 4, (10,)), torch.randint(0, 30, (10,))
    positive = distance(h, r, t)
    negative = distance(h, r, torch.randint(0, 30, (10,)))
    renormalise()
    loss = (1 + positive - negative).clamp_min(0).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
