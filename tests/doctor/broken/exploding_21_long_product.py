# code: exploding_gradient
import torch
from torch import nn

torch.manual_seed(0)


class RNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.eye(4) * 1.1)

    def forward(self, x, T):
        h = x
        for _ in range(T):
            h = h @ self.w
        return h.mean()


net = RNN()
opt = torch.optim.SGD(net.parameters(), lr=1e-12)
for T in [5, 5, 6, 5, 6, 200]:
    loss = net(torch.ones(2, 4), T)
    opt.zero_grad()
    loss.backward()  # LINE
    opt.step()
