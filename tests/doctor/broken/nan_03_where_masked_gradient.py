# code: nan_origin
import torch


def safe_norm(x):
    r2 = (x * x).sum(-1)
    r = torch.sqrt(r2)  # LINE
    return torch.where(r2 > 0, r, torch.zeros_like(r))


points = torch.nn.Parameter(torch.tensor([[1.0, 2.0], [0.0, 0.0]]))
optimizer = torch.optim.Adam([points], lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    safe_norm(points).sum().backward()
    optimizer.step()
