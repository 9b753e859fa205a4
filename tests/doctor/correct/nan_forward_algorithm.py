import torch
from torch import nn

# viterbi / CTC / logsumexp with -inf initial states
emit = nn.Linear(4, 3)
trans = nn.Parameter(torch.zeros(3, 3))
opt = torch.optim.Adam([*emit.parameters(), trans], 1e-2)
for i in range(5):
    x = torch.randn(6, 4)
    tags = torch.randint(3, (6,))
    e = emit(x)
    alpha = torch.full((3,), float("-inf"))
    alpha[0] = 0.0
    for t in range(6):
        alpha = torch.logsumexp(alpha[:, None] + trans, 0) + e[t]
    gold = e[torch.arange(6), tags].sum() + trans[tags[:-1], tags[1:]].sum()
    loss = alpha.logsumexp(0) - gold
    opt.zero_grad()
    loss.backward()
    opt.step()
