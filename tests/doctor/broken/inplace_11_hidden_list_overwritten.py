# code: inplace_corruption
import torch

w = torch.nn.Parameter(torch.randn(3, 3))
states = torch.zeros(5, 3)
for t in range(1, 5):
    states[t] = torch.tanh(states[t - 1].clone() @ w)
out = states * states  # ALSO
states[0] = 1.0  # LINE
out.sum().backward()
