import torch
from torch import nn

torch.manual_seed(0)


class Survival(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(2, 16, batch_first=True)
        self.hazard = nn.Linear(16, 1)
        nn.init.constant_(self.hazard.bias, -10.0)

    def forward(self, x):
        return self.hazard(self.rnn(x)[0]).squeeze(-1)


m = Survival()
opt = torch.optim.AdamW(m.parameters(), lr=1e-3)
for batch in range(50):
    x = torch.randn(8, 12, 2)
    log_h = m(x)
    event = torch.zeros(8, 12)
    if batch % 12 == 11:
        event[2, 7] = 1
    nll = (log_h.exp() - event * log_h).sum(1).mean()
    opt.zero_grad()
    nll.backward()
    opt.step()
