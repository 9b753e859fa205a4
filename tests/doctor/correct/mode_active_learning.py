import torch
from torch import nn

torch.manual_seed(0)


class Acquisition:
    """Bayesian active learning: dropout stays on while the pool is scored."""

    def __init__(self, model, passes=8):
        self.model, self.passes = model, passes

    @torch.no_grad()
    def bald(self, pool):
        self.model.train()
        p = torch.stack([self.model(pool).softmax(-1) for _ in range(self.passes)])
        mean = p.mean(0)
        total = -(mean * (mean + 1e-9).log()).sum(-1)
        aleatoric = -(p * (p + 1e-9).log()).sum(-1).mean(0)
        return total - aleatoric


model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 3))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
pool = torch.randn(60, 4)
chosen = list(range(10))
for round_ in range(4):
    for _ in range(5):
        opt.zero_grad()
        nn.functional.cross_entropy(model(pool[chosen]), pool[chosen].argmax(1) % 3).backward()
        opt.step()
    scores = Acquisition(model).bald(pool)
    chosen += scores.topk(5).indices.tolist()
