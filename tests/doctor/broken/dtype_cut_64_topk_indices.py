# code: dtype_cut, disconnected_parameter
import torch
from torch import nn

torch.manual_seed(0)


class TokenSelector(nn.Module):
    def __init__(self):
        super().__init__()
        self.score, self.cls = nn.Linear(6, 1), nn.Linear(6, 2)

    def forward(self, x):
        s = self.score(x).squeeze(-1)
        keep = s.topk(2, dim=1).indices  # LINE
        picked = x.gather(1, keep[..., None].expand(-1, -1, 6))
        return self.cls(picked.mean(1))


net = TokenSelector()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(25):
    loss = nn.functional.cross_entropy(net(torch.randn(8, 5, 6)), torch.randint(0, 2, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
