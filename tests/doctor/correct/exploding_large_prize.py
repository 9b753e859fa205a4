import torch

torch.manual_seed(0)
logits = torch.zeros(6, 4, requires_grad=True)
opt = torch.optim.Adam([logits], lr=1e-2)
for game in range(50):
    state = game % 6
    p = torch.softmax(logits[state], 0)
    with torch.no_grad():
        a = torch.multinomial(p, 1).item()
    score = 2000.0 if game in (31, 44) else 0.0
    entropy = -(p * p.log()).sum()
    opt.zero_grad()
    (-score * p[a].log() - 0.01 * entropy - 1e-3 * logits[state, 0]).backward()
    opt.step()
