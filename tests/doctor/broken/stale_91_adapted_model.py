# code: stale_optimizer, disconnected_parameter
import torch
from torch import nn


class LoRA(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.weight = nn.Parameter(base.weight.detach().clone())  # ALSO
        self.a = nn.Parameter(torch.randn(2, base.in_features) * 0.1)  # ALSO
        self.b = nn.Parameter(torch.zeros(base.out_features, 2))  # ALSO

    def forward(self, x):
        return x @ (self.weight + self.b @ self.a).T


def adapt(net):
    for name, child in net.named_children():
        if isinstance(child, nn.Linear):
            setattr(net, name, LoRA(child))  # ALSO
        else:
            adapt(child)
    return net


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Sequential(nn.Linear(8, 2)))
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)  # LINE
net = adapt(net)
for _ in range(8):
    opt.zero_grad()
    nn.functional.cross_entropy(net(torch.randn(8, 4)), torch.randint(0, 2, (8,))).backward()
    opt.step()
