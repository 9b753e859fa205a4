import torch
import torch.nn.functional as F
from torch import nn

teacher, student = nn.Linear(3, 5), nn.Linear(3, 5)
teacher.eval()
optimizer = torch.optim.Adam(student.parameters())
for _ in range(5):
    x = torch.randn(7, 3)
    with torch.no_grad():
        targets = F.softmax(teacher(x), dim=-1)
    loss = F.kl_div(F.log_softmax(student(x), -1), targets, reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
