import torch
from torch import nn


# Neural ODE by adjoint as custom Function with autograd.grad inside
class Euler(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, f, *params):
        with torch.no_grad():
            xs = [x]
            for _ in range(5):
                xs.append(xs[-1] + 0.1 * f(xs[-1]))
        ctx.f, ctx.n = f, len(params)
        ctx.save_for_backward(*xs[:-1])
        return xs[-1]

    @staticmethod
    def backward(ctx, g):
        ps = list(ctx.f.parameters())
        total = [torch.zeros_like(p) for p in ps]
        for x in reversed(ctx.saved_tensors):
            with torch.enable_grad():
                x = x.detach().requires_grad_()
                y = x + 0.1 * ctx.f(x)
            gx, *gp = torch.autograd.grad(y, [x, *ps], g)
            total = [t + q for t, q in zip(total, gp)]
            g = gx
        return (g, None, *total)


f = nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 2))
opt = torch.optim.Adam(f.parameters(), 1e-2)
for i in range(5):
    y = Euler.apply(torch.randn(4, 2), f, *f.parameters())
    opt.zero_grad()
    (y - 1).pow(2).mean().backward()
    opt.step()
