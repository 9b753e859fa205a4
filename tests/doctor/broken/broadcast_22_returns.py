# code: silent_broadcast_loss
import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.v = nn.Linear(4, 1)

    def loss(self, states, rewards, next_states, gamma=0.9):
        with torch.no_grad():
            target = rewards + gamma * self.v(next_states).squeeze(-1)
        return torch.mean((target - self.v(states)) ** 2)  # LINE


critic = Critic()
opt = torch.optim.SGD(critic.parameters(), lr=1e-2)
for _ in range(4):
    loss = critic.loss(torch.randn(12, 4), torch.randn(12), torch.randn(12, 4))
    opt.zero_grad()
    loss.backward()
    opt.step()
