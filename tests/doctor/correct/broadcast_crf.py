import torch
from torch import nn


class CRF(nn.Module):
    def __init__(self, tags):
        super().__init__()
        self.transitions = nn.Parameter(torch.randn(tags, tags) * 0.1)
        self.start = nn.Parameter(torch.zeros(tags))

    def log_z(self, emissions, mask):
        alpha = self.start + emissions[0]
        for e, m in zip(emissions[1:], mask[1:]):
            new = torch.logsumexp(alpha.unsqueeze(2) + self.transitions + e.unsqueeze(1), dim=1)
            alpha = torch.where(m.unsqueeze(1), new, alpha)
        return alpha.logsumexp(1)

    def score(self, emissions, tags, mask):
        total = self.start[tags[0]] + emissions[0].gather(1, tags[0].unsqueeze(1)).squeeze(1)
        for t in range(1, len(tags)):
            step = self.transitions[tags[t - 1], tags[t]] + emissions[t].gather(1, tags[t].unsqueeze(1)).squeeze(1)
            total = total + step * mask[t]
        return total

    @torch.no_grad()
    def decode(self, emissions):
        best, back = self.start + emissions[0], []
        for e in emissions[1:]:
            best, index = (best.unsqueeze(2) + self.transitions).max(1)
            best = best + e
            back.append(index)
        return best.argmax(1)


torch.manual_seed(0)
net, crf = nn.Linear(6, 3), CRF(3)
opt = torch.optim.Adam([*net.parameters(), *crf.parameters()], lr=1e-2)
for _ in range(6):
    x, tags = torch.randn(7, 4, 6), torch.randint(0, 3, (7, 4))
    mask = torch.arange(7).unsqueeze(1) < torch.tensor([7, 5, 3, 6])
    e = net(x)
    loss = (crf.log_z(e, mask) - crf.score(e, tags, mask)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    crf.decode(net(x))
