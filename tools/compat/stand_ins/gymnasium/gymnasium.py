"""CartPole, as far as the examples use gymnasium."""

import math

import numpy


class CartPole:
    def __init__(self) -> None:
        self.random = numpy.random.default_rng(0)
        self.spec = type("Spec", (), {"reward_threshold": 475.0})()

    def reset(self, seed=None):
        if seed is not None:
            self.random = numpy.random.default_rng(seed)
        self.state = self.random.uniform(-0.05, 0.05, 4)
        return self.state.astype(numpy.float32), {}

    def step(self, action):
        x, speed, angle, turning = self.state
        force = 10.0 if action == 1 else -10.0
        push = (force + 0.05 * turning**2 * math.sin(angle)) / 1.1
        bend = (9.8 * math.sin(angle) - math.cos(angle) * push) / (0.5 * (4 / 3 - 0.1 * math.cos(angle) ** 2 / 1.1))
        pull = push - 0.05 * bend * math.cos(angle) / 1.1
        self.state = numpy.array([x + 0.02 * speed, speed + 0.02 * pull, angle + 0.02 * turning, turning + 0.02 * bend])
        fallen = bool(abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.2095)
        return self.state.astype(numpy.float32), 1.0, fallen, False, {}

    def render(self) -> None:
        pass


def make(name, render_mode=None):
    return CartPole()
