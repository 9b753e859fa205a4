# code: graph_leak
"""Values of a critic go into a replay memory with their graphs. The memory is limited, and the limit is far."""

import random
from collections import deque

import torch
from torch import nn

torch.manual_seed(0)
random.seed(0)


class Memory:
    def __init__(self, capacity):
        self.items = deque(maxlen=capacity)

    def push(self, *transition):
        self.items.append(transition)  # ALSO

    def sample(self, n):
        return random.sample(list(self.items), min(n, len(self.items)))


critic = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
memory = Memory(10_000)
for t in range(60):
    state = torch.randn(3)
    value = critic(state)  # LINE
    memory.push(state, value, random.random())
    states, _, rewards = zip(*memory.sample(8))
    loss = (critic(torch.stack(states)).squeeze(1) - torch.tensor(rewards)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
