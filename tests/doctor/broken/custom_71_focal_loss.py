# code: custom_function_wrong_gradient
import torch
from torch import nn


class FocalLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target, gamma):
        p = torch.sigmoid(logits)
        pt = torch.where(target == 1, p, 1 - p)
        ctx.save_for_backward(pt, target)
        ctx.gamma = gamma
        return (-((1 - pt) ** gamma) * pt.log()).mean()

    @staticmethod
    def backward(ctx, g):  # LINE
        pt, target = ctx.saved_tensors  # LINE
        gam = ctx.gamma  # LINE
        sign = torch.where(target == 1, 1.0, -1.0)  # LINE
        d = sign * (1 - pt) ** gam * (gam * pt * pt.log() + pt - 1)  # LINE
        return g * d, None, None  # LINE


net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
for i in range(3):
    x = torch.randn(8, 4)
    y = (x.sum(1, keepdim=True) > 0).float()
    loss = FocalLoss.apply(net(x), y, 2.0)
    opt.zero_grad()
    loss.backward()
    opt.step()
