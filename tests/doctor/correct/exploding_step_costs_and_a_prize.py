"""A cost for each step and a prize for the goal, which is found now and then: what is discounted is summed over the episode."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Walk:
    def __init__(self, goal):
        self.goal = goal

    def play(self, policy):
        at, log_probs, rewards = 0, [], []
        for _ in range(15):
            d = torch.distributions.Categorical(logits=policy(F.one_hot(torch.tensor(at % 8), 8).float()))
            move = d.sample()
            log_probs.append(d.log_prob(move))
            at += 1 if move.item() else -1
            rewards.append(10.0 if at == self.goal else -0.001)
            if at == self.goal:
                break
        return torch.stack(log_probs), rewards


policy = nn.Linear(8, 2)
opt = torch.optim.SGD(policy.parameters(), lr=1e-3)
walk = Walk(9)
for episode in range(150):
    log_probs, rewards = walk.play(policy)
    g, returns = 0.0, []
    for r in reversed(rewards):
        g = r + 0.99 * g
        returns.insert(0, g)
    loss = -(log_probs * torch.tensor(returns)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
