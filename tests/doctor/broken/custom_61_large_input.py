# code: custom_function_wrong_gradient
import torch
from torch import nn


class Mish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.tanh(nn.functional.softplus(x))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        t = torch.tanh(nn.functional.softplus(x))
        return g * (t + x * (1 - t * t))  # LINE


net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.Flatten(1))
head = nn.Linear(8 * 32 * 32, 2)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=1e-3)
for _ in range(3):
    x, y = torch.randn(8, 3, 32, 32), torch.randint(0, 2, (8,))
    opt.zero_grad()
    nn.functional.cross_entropy(head(Mish.apply(net(x))), y).backward()
    opt.step()
