# code: nan_origin
import torch
import torch.nn.functional as F

a = torch.nn.Parameter(torch.tensor([1.0, 0.0, 0.0]))
b = torch.tensor([1.0, 0.0, 0.0])
opt = torch.optim.SGD([a], lr=0.01)


def angle(u, v):
    c = (F.normalize(u, dim=0) * v).sum()
    return torch.acos(c)  # LINE


for _ in range(3):
    opt.zero_grad()
    angle(a, b).backward()
    opt.step()
