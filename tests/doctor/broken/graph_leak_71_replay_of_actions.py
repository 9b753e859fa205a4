# code: graph_leak  # strict
import torch
import torch.nn as nn
import torch.nn.functional as F


class Replay:
    def __init__(self, size):
        self.data = []
        self.size = size

    def push(self, *transition):
        self.data.append(transition)  # ALSO
        if len(self.data) > self.size:
            self.data.pop(0)


actor = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
aopt = torch.optim.Adam(actor.parameters(), lr=1e-3)
copt = torch.optim.Adam(critic.parameters(), lr=1e-3)
memory = Replay(1000)
state = torch.randn(3)
for t in range(30):
    action = actor(state)  # LINE
    next_state = torch.randn(3)
    reward = -float(next_state.norm())
    memory.push(state, action, reward, next_state)
    state = next_state
    if t >= 4:
        batch = memory.data[-4:]
        s = torch.stack([b[0] for b in batch])
        a = torch.stack([b[1].detach() for b in batch])
        r = torch.tensor([b[2] for b in batch])
        q = critic(torch.cat([s, a], 1)).squeeze(1)
        closs = F.mse_loss(q, r)
        copt.zero_grad()
        closs.backward()
        copt.step()
        aloss = -critic(torch.cat([s, actor(s)], 1)).mean()
        aopt.zero_grad()
        aloss.backward()
        aopt.step()
