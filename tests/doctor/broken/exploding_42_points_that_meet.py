# code: exploding_gradient
import torch

torch.manual_seed(0)
points = torch.rand(10, 2, requires_grad=True)
optimizer = torch.optim.SGD([points], lr=1e-4)
for step in range(16):
    with torch.no_grad():
        if step == 11:
            points[1] = points[0] + 1e-4  # two that meet
    d = (points[:, None] - points[None]).pow(2).sum(-1)
    i, j = torch.triu_indices(10, 10, 1)
    energy = (1.0 / d[i, j]).sum()
    optimizer.zero_grad()
    energy.backward()  # LINE
    optimizer.step()
