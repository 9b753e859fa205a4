import copy

import torch
from torch import nn

torch.manual_seed(0)
lm = nn.Sequential(nn.Embedding(9, 16), nn.Flatten(), nn.Linear(48, 9))
reference = copy.deepcopy(lm).requires_grad_(False).eval()
judge = nn.Sequential(nn.Embedding(9, 8), nn.Flatten(), nn.Linear(32, 1))
oj = torch.optim.Adam(judge.parameters(), lr=1e-2)
for _ in range(30):
    a, b = torch.randint(0, 9, (2, 16, 4))
    prefer = (a == 3).sum(1) > (b == 3).sum(1)
    good, bad = torch.where(prefer[:, None], a, b), torch.where(prefer[:, None], b, a)
    oj.zero_grad()
    (-nn.functional.logsigmoid(judge(good) - judge(bad))).mean().backward()
    oj.step()
judge.requires_grad_(False)
opt = torch.optim.AdamW(lm.parameters(), lr=1e-3)
for _ in range(30):
    prompt = torch.randint(0, 9, (16, 3))
    logp = lm(prompt).log_softmax(-1)
    token = torch.multinomial(logp.detach().exp(), 1)
    with torch.no_grad():
        score = judge(torch.cat([prompt, token], 1)).squeeze(1)
        score = (score - score.mean()) / (score.std() + 1e-6)
        ref = reference(prompt).log_softmax(-1)
    chosen = logp.gather(1, token).squeeze(1)
    kl = (logp.exp() * (logp - ref)).sum(1)
    opt.zero_grad()
    (-(chosen * score) + 0.1 * kl).mean().backward()
    opt.step()
