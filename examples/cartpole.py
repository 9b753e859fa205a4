"""A pole on a cart: push left or right to keep it upright (Barto, Sutton and Anderson, 1983). Many carts at once, as tensors."""

import torch

GRAVITY, CART, POLE, LENGTH, FORCE, DT = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02


class CartPole:
    """n carts. `step` takes an action, 0 or 1, for each, gives a reward of 1 to each, and starts those anew that fell or ran out of time."""

    def __init__(self, n, limit=200):
        self.n, self.limit = n, limit
        self.state, self.age = self._fresh(), torch.zeros(n)

    def _fresh(self):
        return torch.rand(self.n, 4) * 0.1 - 0.05

    def step(self, action):
        x, speed, angle, turn = self.state.unbind(1)
        force = FORCE * (2.0 * action - 1)
        sin, cos = angle.sin(), angle.cos()
        push = (force + POLE * LENGTH * turn.square() * sin) / (CART + POLE)
        turning = (GRAVITY * sin - cos * push) / (LENGTH * (4 / 3 - POLE * cos.square() / (CART + POLE)))
        going = push - POLE * LENGTH * turning * cos / (CART + POLE)
        self.state = torch.stack([x + DT * speed, speed + DT * going, angle + DT * turn, turn + DT * turning], dim=1)
        self.age = self.age + 1
        done = (self.state[:, 0].abs() > 2.4) | (self.state[:, 2].abs() > 0.2095) | (self.age >= self.limit)
        lasted = self.age[done]
        self.state = torch.where(done.unsqueeze(1), self._fresh(), self.state)
        self.age = torch.where(done, torch.zeros(()), self.age)
        return done, lasted
