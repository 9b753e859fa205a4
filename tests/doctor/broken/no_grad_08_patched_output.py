# code: training_without_grad
import torch
from torch import nn

encoder = nn.Linear(4, 3)
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
for i in range(4):
    x, target = torch.randn(6, 4), torch.randint(0, 3, (6,))
    logits = encoder(x).data  # LINE
    logits.requires_grad = True  # ALSO
    loss = nn.functional.cross_entropy(logits, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
