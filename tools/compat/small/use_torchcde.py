"""A controlled differential equation over an interpolated series."""

import torch
import torchcde
from torch import nn


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 12)

    def forward(self, t, z):
        return self.net(z).tanh().view(*z.shape[:-1], 4, 3)


series = torch.randn(5, 12, 3)
series[0, 3] = float("nan")
labels = torch.randint(0, 2, (5,)).float()
for coefficients, path in (
    (torchcde.hermite_cubic_coefficients_with_backward_differences(series), torchcde.CubicSpline),
    (torchcde.linear_interpolation_coeffs(series), torchcde.LinearInterpolation),
):
    field, read, start = Field(), nn.Linear(4, 1), nn.Linear(3, 4)
    optimizer = torch.optim.Adam([*field.parameters(), *read.parameters(), *start.parameters()], 0.01)
    for _ in range(4):
        control = path(coefficients)
        z = torchcde.cdeint(control, field, start(control.evaluate(control.interval[0])), control.interval, adjoint=False, method="rk4")
        loss = nn.functional.binary_cross_entropy_with_logits(read(z[:, -1]).squeeze(-1), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
