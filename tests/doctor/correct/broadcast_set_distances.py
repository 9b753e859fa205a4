import torch

points = torch.randn(7, requires_grad=True)
goal = torch.randn(7)
optimizer = torch.optim.SGD([points], lr=0.1)
for _ in range(5):
    left = points.view(-1, 1)
    distances = (left - goal).abs()  # of every point to every goal: the nearest one counts
    chamfer = distances.min(0).values.mean() + distances.min(1).values.mean()
    optimizer.zero_grad()
    chamfer.backward()
    optimizer.step()
