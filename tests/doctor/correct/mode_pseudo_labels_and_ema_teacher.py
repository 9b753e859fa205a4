import copy

import torch
from torch import nn

student = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.2), nn.ReLU(), nn.Linear(8, 3))
teacher = copy.deepcopy(student)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
for step in range(6):
    weak, strong = torch.randn(8, 4), torch.randn(8, 4)
    with torch.no_grad():
        probabilities = student(weak).softmax(1)
        confidence, labels = probabilities.max(1)
        mask = (confidence > 0.3).float()
        target = teacher(weak).softmax(1)
    logits = student(strong)
    loss = (nn.functional.cross_entropy(logits, labels, reduction="none") * mask).mean()
    loss = loss + (logits.softmax(1) - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p, q in zip(teacher.parameters(), student.parameters()):
            p.mul_(0.9).add_(q, alpha=0.1)
    print(mask.mean().item())
