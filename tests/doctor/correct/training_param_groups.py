import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(s):
        super().__init__()
        s.body = nn.Linear(4, 8)
        s.norm = nn.LayerNorm(8)
        s.head = nn.Linear(8, 2)
        s.register_buffer("t", torch.ones(1))
        s.temp = nn.Parameter(torch.ones(1), requires_grad=False)

    def forward(s, x):
        return s.head(s.norm(s.body(x)).relu()) * s.temp


n = Net()
decay = [p for k, p in n.named_parameters() if p.ndim > 1]
no = [p for k, p in n.named_parameters() if p.ndim == 1 and p.requires_grad]
o = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": no, "weight_decay": 0.0}], 1e-3)
for i in range(6):
    x = torch.randn(8, 4)
    o.zero_grad()
    n(x).logsumexp(1).mean().backward()
    o.step()
# bias only fine-tuning (BitFit) without freezing
o = torch.optim.SGD([p for k, p in n.named_parameters() if k.endswith("bias")], 0.1)
for i in range(6):
    x = torch.randn(8, 4)
    o.zero_grad()
    n(x).logsumexp(1).mean().backward()
    o.step()
