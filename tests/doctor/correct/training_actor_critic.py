import torch
from torch import nn

torch.manual_seed(0)


class AC(nn.Module):
    def __init__(s):
        super().__init__()
        s.body = nn.Linear(4, 16)
        s.pi = nn.Linear(16, 2)
        s.v = nn.Linear(16, 1)

    def forward(s, x):
        h = torch.tanh(s.body(x))
        return s.pi(h), s.v(h)


net = AC()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for ep in range(20):
    logps = []
    vals = []
    rs = []
    for t in range(8):
        logits, v = net(torch.randn(4))
        d = torch.distributions.Categorical(logits=logits)
        a = d.sample()
        logps.append(d.log_prob(a))
        vals.append(v.squeeze())
        rs.append(float(a) * (100.0 if ep == 10 and t == 7 else 1.0))
    R = 0
    rets = []
    for r in reversed(rs):
        R = r + 0.99 * R
        rets.insert(0, R)
    rets = torch.tensor(rets)
    rets = (rets - rets.mean()) / (rets.std() + 1e-8)
    logps = torch.stack(logps)
    vals = torch.stack(vals)
    loss = -(logps * (rets - vals.detach())).sum() + nn.functional.smooth_l1_loss(vals, rets)
    opt.zero_grad()
    loss.backward()
    opt.step()
