import torch
from torch.autograd import Function


class Reverse(Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.alpha = alpha
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.alpha * grad, None


class ScaleGradient(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad.clamp(-0.1, 0.1)


body, head, adversary = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1), torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters(), *adversary.parameters()], lr=0.1)
for _ in range(5):
    h = torch.relu(body(torch.randn(8, 3)))
    task = head(ScaleGradient.apply(h)).pow(2).mean()
    domain = torch.nn.functional.cross_entropy(adversary(Reverse.apply(h, 0.5)), torch.randint(0, 2, (8,)))
    optimizer.zero_grad()
    (task + domain).backward()
    optimizer.step()
