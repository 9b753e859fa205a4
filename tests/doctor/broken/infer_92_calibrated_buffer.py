# code: inference_tensor_misuse
import torch
from torch import nn

torch.manual_seed(0)


class Whiten(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.register_buffer("mean", torch.zeros(d))

    @torch.inference_mode()
    def calibrate(self, x):
        self.mean = x.mean(0)  # ALSO

    def forward(self, x):
        return x - self.mean


white = Whiten(4)
white.calibrate(torch.randn(32, 4))
net = nn.Linear(4, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    h = net(torch.randn(8, 4))
    opt.zero_grad()
    (h * white.mean).sum().backward()  # LINE
    opt.step()
