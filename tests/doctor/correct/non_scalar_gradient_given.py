import torch

x = torch.randn(5, requires_grad=True)
y = torch.sin(x) * 2
y.backward(torch.ones_like(y))
rows = []
for i in range(3):
    z = x**2
    rows.append(torch.autograd.grad(z, x, grad_outputs=torch.eye(5)[i])[0])
one = (x[:1] * 3).view(1, 1)
one.backward()
torch.autograd.grad([x.sum(), x.prod()], x)
torch.autograd.backward([x * 2, x.sum()], [torch.ones(5), None])
