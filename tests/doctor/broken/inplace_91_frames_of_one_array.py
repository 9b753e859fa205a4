# code: inplace_corruption
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
frame = np.zeros((4, 5), np.float32)


def frames():
    for i in range(3):
        frame[:] = np.random.default_rng(i).standard_normal(frame.shape)  # ALSO
        yield torch.from_numpy(frame)


net = nn.Linear(5, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loss = sum(net(x).pow(2).mean() for x in frames())  # LINE
opt.zero_grad()
loss.backward()
opt.step()
