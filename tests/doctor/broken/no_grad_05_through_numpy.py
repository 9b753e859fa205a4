# code: training_without_grad
import numpy as np
import torch
from torch import nn

model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    x, y = torch.randn(4, 3), np.random.rand(4, 1).astype("float32")
    out = model(x)
    error = np.square(out.detach().numpy() - y).mean()
    loss = torch.as_tensor(error)  # LINE
    loss.requires_grad = True  # ALSO
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
