# code: silent_broadcast_loss
import copy

import torch
from torch import nn

q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
target = copy.deepcopy(q)
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)


def td_error(state, action, reward, following):
    value = q(state).gather(1, action)
    with torch.no_grad():
        goal = reward + 0.9 * target(following).max(1).values
    return nn.functional.smooth_l1_loss(value, goal)  # LINE


for _ in range(4):
    batch = torch.randn(8, 4), torch.randint(0, 2, (8, 1)), torch.randn(8), torch.randn(8, 4)
    loss = td_error(*batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
