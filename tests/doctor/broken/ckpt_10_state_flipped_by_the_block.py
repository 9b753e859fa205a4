# code: checkpoint_side_effects
import torch
from torch.utils.checkpoint import checkpoint


class Schedule:
    temperature = 1.0


schedule = Schedule()
w = torch.nn.Parameter(torch.randn(5))


def soft(x):
    schedule.temperature *= 0.5  # ALSO
    return torch.softmax(x * w / schedule.temperature, 0)


opt = torch.optim.Adam([w])
for _ in range(3):
    opt.zero_grad()
    p = checkpoint(soft, torch.randn(5), use_reentrant=False)  # LINE
    (p * torch.arange(5.0)).sum().backward()
    opt.step()
