"""REINFORCE on the cart-pole: the log-probability of each action, weighed by what came after it."""

import argparse

import torch
from cartpole import CartPole
from torch import nn
from torch.distributions import Categorical


def returns(done, discount=0.98):
    """What is still to come at each step, from a reward of 1 per step; time runs along the first dimension."""
    total, found = torch.zeros(done.size(1)), []
    for ended in reversed(done.unbind()):
        total = 1 + discount * total * ~ended
        found.append(total)
    return torch.stack(found[::-1])


def main(updates, steps):
    torch.manual_seed(0)
    policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    carts = CartPole(16)
    for update in range(updates):
        log_probs, ends, lasted = [], [], []
        for _ in range(steps):
            choice = Categorical(logits=policy(carts.state))
            action = choice.sample()
            log_probs.append(choice.log_prob(action))
            done, ages = carts.step(action)
            ends.append(done)
            lasted.append(ages)
        gain = returns(torch.stack(ends))
        gain = (gain - gain.mean()) / (gain.std() + 1e-6)
        loss = -(torch.stack(log_probs) * gain).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if update % max(updates // 10, 1) == 0:
            ages = torch.cat(lasted)
            print(f"update {update:4d}  loss {loss.item():.6f}  poles fell after {ages.mean().item() if len(ages) else steps:.1f} steps")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few steps, for tests")
    main(*(4, 40) if parser.parse_args().short else (120, 200))
