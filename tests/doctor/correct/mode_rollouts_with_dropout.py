import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 2))
opt = torch.optim.Adam(policy.parameters(), lr=1e-3)


def act(obs):
    with torch.no_grad():
        probs = policy(obs).softmax(-1)
    return torch.multinomial(probs, 1).item()


for ep in range(10):
    obs, acts, rews = [], [], []
    for t in range(8):
        o = torch.randn(4)
        a = act(o)
        obs.append(o)
        acts.append(a)
        rews.append(float(a == 1))
    logp = policy(torch.stack(obs)).log_softmax(-1)[torch.arange(8), torch.tensor(acts)]
    loss = -(logp * (torch.tensor(rews) - 0.5)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
