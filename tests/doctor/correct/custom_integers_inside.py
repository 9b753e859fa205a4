import torch
from torch import nn


class ScaleGrad(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g, None


class Quantize8(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w):
        s = w.abs().max() / 127
        return (w / s).to(torch.int8).to(w.dtype) * s

    @staticmethod
    def backward(ctx, g):
        return g


feat, cls, dom = nn.Linear(6, 8), nn.Linear(8, 2), nn.Linear(8, 2)
opt = torch.optim.Adam([*feat.parameters(), *cls.parameters(), *dom.parameters()])
for step in range(6):
    x, y, d = torch.randn(10, 6), torch.randint(0, 2, (10,)), torch.randint(0, 2, (10,))
    h = nn.functional.linear(x, Quantize8.apply(feat.weight), feat.bias).relu()
    loss = nn.functional.cross_entropy(cls(h), y) + nn.functional.cross_entropy(dom(ScaleGrad.apply(h, 0.1 * step)), d)
    opt.zero_grad()
    loss.backward()
    opt.step()
