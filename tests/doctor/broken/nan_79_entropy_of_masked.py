# code: nan_origin
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 6)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(20):
    logits = net(torch.randn(8, 4))
    allowed = torch.rand(8, 6) > 0.3
    allowed[:, 0] = True
    masked = logits.masked_fill(~allowed, -torch.inf)
    dist = torch.distributions.Categorical(logits=masked)
    a = dist.sample()
    p = masked.softmax(-1)
    entropy = torch.special.entr(p).sum(-1)  # LINE
    loss = -(dist.log_prob(a) + 0.01 * entropy).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
