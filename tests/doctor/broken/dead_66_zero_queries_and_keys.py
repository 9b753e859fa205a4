# code: dead_gradient
import torch
from torch import nn

torch.manual_seed(0)


class Head(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(d, d, bias=False) for _ in range(3))
        nn.init.zeros_(self.q.weight)  # ALSO
        nn.init.zeros_(self.k.weight)  # ALSO

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(-2, -1)  # LINE
        return scores.softmax(-1) @ self.v(x)


head, out = Head(6), nn.Linear(6, 2)
opt = torch.optim.Adam([*head.parameters(), *out.parameters()], lr=1e-3)
for _ in range(25):
    x = torch.randn(4, 5, 6)
    loss = nn.functional.cross_entropy(out(head(x).mean(1)), torch.randint(0, 2, (4,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
