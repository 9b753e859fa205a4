# What the doctor computes with a Function is not to be seen by the program: notes that an inner one takes, and leaves that are returned.
import torch
from torch.autograd import Function

notes = []


class Inner(Function):
    @staticmethod
    def forward(ctx, g):
        notes.append("forward")
        return g * 2

    @staticmethod
    def backward(ctx, h):
        return h * 2


class Outer(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return Inner.apply(g)


x = torch.ones(3, requires_grad=True)
Outer.apply(x).sum().backward()
assert notes == ["forward"], notes

kept = torch.zeros(2, requires_grad=True)


class Kept(Function):
    @staticmethod
    def forward(ctx, x):
        return kept

    @staticmethod
    def backward(ctx, g):
        return g * 5


y = torch.ones(2, requires_grad=True)
Kept.apply(y).sum().backward()
assert y.grad.tolist() == [5, 5]
