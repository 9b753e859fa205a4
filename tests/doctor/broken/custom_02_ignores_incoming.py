# code: custom_function_wrong_gradient
import torch
from torch.autograd import Function


class Swish(Function):
    @staticmethod
    def forward(ctx, x):
        s = torch.sigmoid(x)
        ctx.save_for_backward(x, s)
        return x * s

    @staticmethod
    def backward(ctx, grad_output):
        x, s = ctx.saved_tensors
        return s + x * s * (1 - s)  # LINE


net = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    Swish.apply(net(torch.randn(5, 3))).pow(2).mean().backward()
    optimizer.step()
