# code: missing_zero_grad
import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 3))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
rho = 0.05
for step in range(15):
    x, y = torch.randn(16, 5), torch.randint(0, 3, (16,))
    opt.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    with torch.no_grad():
        norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
        eps = [rho * p.grad / (norm + 1e-12) for p in model.parameters()]
        for p, e in zip(model.parameters(), eps):
            p.add_(e)
    nn.functional.cross_entropy(model(x), y).backward()  # LINE
    with torch.no_grad():
        for p, e in zip(model.parameters(), eps):
            p.sub_(e)
    opt.step()
