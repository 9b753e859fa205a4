# code: silent_broadcast_loss
import torch
from torch import nn

q, target = nn.Linear(4, 3), nn.Linear(4, 3)
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), 1e-3)


def td_target(reward, next_state, done, gamma=0.99):
    with torch.no_grad():
        best = target(next_state).max(dim=1).values
        return reward + gamma * best * (1 - done)  # LINE


for i in range(4):
    s, a, r, s2, d = torch.randn(16, 4), torch.randint(3, (16, 1)), torch.randn(16, 1), torch.randn(16, 4), torch.zeros(16)
    loss = nn.functional.mse_loss(q(s).gather(1, a), td_target(r, s2, d))
    opt.zero_grad()
    loss.backward()
    opt.step()
