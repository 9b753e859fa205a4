# code: inference_tensor_misuse
import torch
import torch.nn.functional as F
from torch import nn


def soft_targets(teacher, x):
    with torch.inference_mode():
        return F.softmax(teacher(x), dim=-1)  # ALSO


teacher, student = nn.Linear(3, 5), nn.Linear(3, 5)
optimizer = torch.optim.Adam(student.parameters())
for _ in range(4):
    x = torch.randn(7, 3)
    targets = soft_targets(teacher, x)
    log_p = F.log_softmax(student(x), dim=-1)
    loss = -(targets * log_p).sum(1).mean()  # LINE
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
