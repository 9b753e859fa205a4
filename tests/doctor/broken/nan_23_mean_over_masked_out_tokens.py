# code: nan_origin
import torch
from torch import nn

emb = nn.Embedding(10, 4)
head = nn.Linear(4, 2)
optimizer = torch.optim.SGD([*emb.parameters(), *head.parameters()], lr=0.1)


def pooled(tokens):
    mask = (tokens != 0).float().unsqueeze(-1)
    return (emb(tokens) * mask).sum(1) / mask.sum(1)  # LINE


batches = [torch.tensor([[1, 2, 0], [3, 0, 0]]), torch.tensor([[4, 5, 6], [0, 0, 0]])]
for tokens in batches * 2:
    loss = nn.functional.cross_entropy(head(pooled(tokens)), torch.tensor([0, 1]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
