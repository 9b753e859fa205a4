# code: graph_leak
import torch
from torch import nn

policy = nn.Linear(3, 2)
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
buffer = []


def act(obs):
    dist = torch.distributions.Categorical(logits=policy(obs))
    action = dist.sample()
    return action, dist.log_prob(action)  # LINE


def update():
    episode = buffer[-4:]
    loss = -torch.stack([item["log_prob"] * item["reward"] for item in episode]).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


for episode in range(8):
    for t in range(4):
        obs = torch.randn(3)
        action, log_prob = act(obs)
        buffer.append({"obs": obs, "log_prob": log_prob, "reward": float(action)})  # ALSO
    update()
