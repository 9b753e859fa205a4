# code: inplace_corruption
import numpy as np
import torch

data = np.random.rand(10, 3).astype(np.float32)
w = torch.zeros(3, requires_grad=True)
rng = np.random.default_rng(0)
for epoch in range(2):
    x = torch.from_numpy(data)
    loss = ((x @ w - 1) ** 2).mean()  # LINE
    rng.shuffle(data)  # ALSO
    loss.backward()
    w.data.sub_(0.1 * w.grad)
    w.grad.zero_()
