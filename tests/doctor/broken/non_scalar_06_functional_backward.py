# code: non_scalar_backward
import torch


def penalty(model, x):
    x = x.clone().requires_grad_(True)
    out = model(x)  # ALSO
    (grad,) = torch.autograd.grad(outputs=out, inputs=x, create_graph=True)  # LINE
    return ((grad.norm(dim=1) - 1) ** 2).mean()


critic = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
penalty(critic, torch.randn(4, 2)).backward()
