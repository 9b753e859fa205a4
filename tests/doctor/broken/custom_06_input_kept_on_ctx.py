# code: custom_function_wrong_gradient
import torch
from torch.autograd import Function


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x  # LINE
        return x**3

    @staticmethod
    def backward(ctx, grad):
        return 3 * grad * ctx.x**2


model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(4):
    loss = Cube.apply(model(torch.randn(3, 2))).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
