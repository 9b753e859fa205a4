# code: disconnected_parameter
import torch

torch.manual_seed(0)
slope = torch.tensor(0.5, requires_grad=True)
offset = torch.tensor(0.0, requires_grad=True)
curve = torch.tensor(0.1, requires_grad=True)  # LINE
opt = torch.optim.Adam([slope, offset, curve], lr=0.1)  # ALSO


def model(t):
    return slope * t + offset


t = torch.linspace(0, 1, 11)
goal = t**2
for _ in range(4):
    opt.zero_grad()
    torch.mean((model(t) - goal) ** 2).backward()
    opt.step()
