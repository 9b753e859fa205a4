# code: custom_function_wrong_gradient
import torch


class SoftThreshold(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, t):
        y = x.sign() * (x.abs() - t).clamp(min=0)
        ctx.save_for_backward(x, t)
        return y

    @staticmethod
    def backward(ctx, g):  # LINE
        x, t = ctx.saved_tensors  # LINE
        on = (x.abs() > t).float()  # LINE
        return g * on, (g * on).sum()  # LINE


torch.manual_seed(0)
t = torch.tensor(0.3, requires_grad=True)
w = torch.randn(5, 5, requires_grad=True)
opt = torch.optim.SGD([t, w], lr=0.01)
for _ in range(3):
    opt.zero_grad()
    SoftThreshold.apply(torch.randn(8, 5) @ w, t).pow(2).mean().backward()
    opt.step()
