# code: missing_zero_grad
import torch
from torch import nn

torch.manual_seed(1)
emb, head = nn.Embedding(20, 6), nn.Linear(6, 20)
opt = torch.optim.RMSprop([*emb.parameters(), *head.parameters()], lr=1e-3)
losses = []
for it in range(9):
    tokens = torch.randint(0, 20, (4, 7))
    loss = nn.functional.cross_entropy(head(emb(tokens[:, :-1])).flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()  # LINE
    opt.step()
    losses.append(loss.item())
    if it % 4 == 3:
        opt.zero_grad()  # ALSO
        print(sum(losses) / len(losses))
