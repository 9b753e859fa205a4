import torch
from torch import nn


class Both:
    """Matrices by one rule, vectors by another."""

    def __init__(self, net):
        self.parts = [
            torch.optim.SGD([p for p in net.parameters() if p.ndim > 1], lr=0.02, momentum=0.9, nesterov=True),
            torch.optim.AdamW([p for p in net.parameters() if p.ndim < 2], lr=1e-3),
        ]

    def __getattr__(self, name):
        def each(*a, **k):
            for part in self.__dict__["parts"]:
                getattr(part, name)(*a, **k)

        return each


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 12), nn.LayerNorm(12), nn.SiLU(), nn.Linear(12, 2))
both = Both(net)
for _ in range(10):
    x = torch.randn(16, 5)
    nn.functional.cross_entropy(net(x), (x.sum(1) > 0).long()).backward()
    both.step()
    both.zero_grad()
