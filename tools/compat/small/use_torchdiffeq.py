"""A neural ODE, through the solver and by the adjoint."""

import torch
from torch import nn
from torchdiffeq import odeint, odeint_adjoint


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))

    def forward(self, t, y):
        return self.net(y**3)


times = torch.linspace(0, 1, 6)
start, goal = torch.tensor([[2.0, 0.0]]), torch.randn(6, 1, 2)
for solve, options in (
    (odeint, {"method": "dopri5"}),
    (odeint_adjoint, {"method": "dopri5"}),
    (odeint, {"method": "rk4"}),
    (odeint, {"method": "implicit_adams"}),
):
    field = Field()
    optimizer = torch.optim.Adam(field.parameters(), 0.01)
    for _ in range(5):
        loss = (solve(field, start, times, **options) - goal).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
