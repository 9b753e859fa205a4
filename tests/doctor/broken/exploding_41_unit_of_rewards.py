# code: exploding_gradient
import torch
from torch import nn

policy = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.SGD(policy.parameters(), lr=0.05)
torch.manual_seed(0)
for episode in range(12):
    states = torch.randn(20, 4)
    dist = torch.distributions.Categorical(logits=policy(states))
    actions = dist.sample()
    returns = torch.rand(20)
    if episode == 9:
        returns = returns * 1e7  # a unit that changed on the way
    loss = -(dist.log_prob(actions) * returns).mean()
    opt.zero_grad()
    loss.backward()  # LINE
    opt.step()
