# code: backward_twice
import torch
from torch import nn

policy, value = nn.Linear(3, 2), nn.Linear(3, 1)
opt = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=0.0)
obs = torch.randn(6, 3)
log_p = policy(obs).log_softmax(-1)[:, 0]  # ALSO
returns = torch.randn(6)
for epoch in range(3):
    advantage = returns - value(obs).squeeze(-1)
    loss = -(log_p * advantage.detach()).mean() + advantage.pow(2).mean()
    opt.zero_grad()
    loss.backward()  # LINE
    opt.step()
