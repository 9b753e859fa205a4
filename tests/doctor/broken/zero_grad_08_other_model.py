# code: missing_zero_grad
import copy

import torch
from torch import nn

torch.manual_seed(0)
student = nn.Sequential(nn.Linear(4, 6), nn.GELU(), nn.Linear(6, 2))
teacher = copy.deepcopy(student).requires_grad_(False)
optimizer = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9)
for step in range(6):
    batch = torch.randn(5, 4)
    teacher.zero_grad()  # ALSO
    with torch.no_grad():
        goal = teacher(batch)
    distance = (student(batch + 0.1) - goal).square().mean()
    distance.backward()  # LINE
    optimizer.step()
