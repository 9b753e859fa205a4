import torch
from torch.autograd import Function


class VectorQuantize(Function):
    @staticmethod
    def forward(ctx, x, codebook):
        index = torch.cdist(x, codebook).argmin(1)
        ctx.save_for_backward(index, codebook)
        return codebook[index]

    @staticmethod
    def backward(ctx, grad):
        index, codebook = ctx.saved_tensors
        return grad.clone(), torch.zeros_like(codebook).index_add(0, index, grad)


class Heaviside(Function):
    @staticmethod
    def forward(ctx, v, beta):
        ctx.save_for_backward(v)
        ctx.beta = beta
        return (v >= 0).to(v.dtype)

    @staticmethod
    def backward(ctx, grad):
        (v,) = ctx.saved_tensors
        s = torch.sigmoid(ctx.beta * v)
        return grad * ctx.beta * s * (1 - s), None


class TopKMask(Function):
    @staticmethod
    def forward(ctx, scores, k):
        out = torch.zeros_like(scores)
        out[scores.topk(k).indices] = 1.0
        return out

    @staticmethod
    def backward(ctx, grad):
        return grad, None


enc = torch.nn.Linear(3, 2)
codes = torch.nn.Parameter(torch.randn(6, 2))
scores = torch.nn.Parameter(torch.randn(10))
opt = torch.optim.Adam([*enc.parameters(), codes, scores])
for _ in range(4):
    z = enc(torch.randn(8, 3))
    q = VectorQuantize.apply(z, codes)
    loss = q.pow(2).mean() + Heaviside.apply(z, 5.0).mean() + (TopKMask.apply(scores, 3) * torch.arange(10.0)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
