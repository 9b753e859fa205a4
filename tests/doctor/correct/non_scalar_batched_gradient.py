import torch

x = torch.randn(4, requires_grad=True)
y = x.exp()
jac = torch.autograd.grad(y, x, torch.eye(4), is_grads_batched=True, retain_graph=True)[0]
jac2 = torch.autograd.functional.jacobian(torch.exp, x)
assert torch.allclose(jac, jac2)
y.sum().backward()
