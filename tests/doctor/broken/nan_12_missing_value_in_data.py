# code: nan_origin
import numpy as np
import torch

table = np.ones((6, 2), dtype=np.float32)
table[3, 1] = np.nan
features = torch.from_numpy(table)  # LINE
w = torch.zeros(2, requires_grad=True)
for _ in range(3):
    loss = ((features @ w - 1) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
