# code: inplace_corruption
import numpy as np
import torch

buffer = np.ones(6, dtype=np.float32)
x = torch.from_numpy(buffer)
w = torch.full((6,), 2.0, requires_grad=True)
for step in range(3):
    loss = (x * w).sum()  # LINE
    buffer[:] = np.random.rand(6)  # ALSO
    w.grad = None
    loss.backward()
