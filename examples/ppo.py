"""Proximal policy optimisation on the cart-pole: a clipped objective, a critic, generalised advantages, several epochs on each batch."""

import argparse

import torch
from cartpole import CartPole
from torch import nn
from torch.distributions import Categorical


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.policy, self.value = nn.Linear(64, 2), nn.Linear(64, 1)
        nn.init.orthogonal_(self.policy.weight, 0.01)

    def forward(self, state):
        hidden = self.body(state)
        return Categorical(logits=self.policy(hidden)), self.value(hidden).squeeze(-1)


def advantages(values, done, last, discount=0.99, decay=0.95):
    found, running, after = [], torch.zeros_like(last), last
    for value, ended in zip(reversed(values.unbind()), reversed(done.unbind()), strict=True):
        alive = (~ended).float()
        error = 1 + discount * after * alive - value
        running = error + discount * decay * alive * running
        found.append(running)
        after = value
    return torch.stack(found[::-1])


def main(updates, steps, epochs):
    torch.manual_seed(0)
    agent, carts = Agent(), CartPole(8)
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3, eps=1e-5)
    for update in range(updates):
        seen = []
        with torch.no_grad():
            for _ in range(steps):
                state = carts.state
                choice, value = agent(state)
                action = choice.sample()
                done, _ = carts.step(action)
                seen.append((state, action, choice.log_prob(action), value, done))
            last = agent(carts.state)[1]
        state, action, old, value, done = (torch.stack(parts) for parts in zip(*seen, strict=True))
        gain = advantages(value, done, last)
        goal = gain + value
        state, action, old, gain, goal = (x.flatten(0, 1) for x in (state, action, old, gain, goal))
        for _ in range(epochs):
            for batch in torch.randperm(len(state)).split(128):
                choice, value = agent(state[batch])
                ratio = (choice.log_prob(action[batch]) - old[batch]).exp()
                weight = (gain[batch] - gain[batch].mean()) / (gain[batch].std() + 1e-8)
                actor = -torch.minimum(ratio * weight, ratio.clamp(0.8, 1.2) * weight).mean()
                critic = nn.functional.mse_loss(value, goal[batch])
                loss = actor + 0.5 * critic - 0.01 * choice.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        if update % max(updates // 10, 1) == 0:
            print(f"update {update:4d}  actor {actor.item():.5f}  critic {critic.item():.5f}  falls {done.sum().item()}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few steps, for tests")
    main(*(3, 32, 2) if parser.parse_args().short else (60, 128, 4))
