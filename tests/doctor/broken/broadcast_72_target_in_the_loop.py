# code: silent_broadcast_loss
import torch
from torch import nn

q, qt = nn.Linear(4, 3), nn.Linear(4, 3)
opt = torch.optim.RMSprop(q.parameters(), 1e-3)
for i in range(3):
    s, a, r, s2, done = torch.randn(9, 4), torch.randint(3, (9, 1)), torch.randn(9, 1), torch.randn(9, 4), torch.zeros(9, 1)
    with torch.no_grad():
        y = r + 0.9 * (1 - done) * qt(s2).max(1)[0]  # LINE
    loss = nn.functional.smooth_l1_loss(q(s).gather(1, a), y)  # LINE
    opt.zero_grad()
    loss.backward()
    opt.step()
