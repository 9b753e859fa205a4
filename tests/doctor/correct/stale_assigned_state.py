import torch
from torch import nn

torch.manual_seed(0)


def build():
    return nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))


def train(net, steps):
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(steps):
        x = torch.randn(8, 3)
        opt.zero_grad()
        (net(x) - x[:, :1]).pow(2).mean().backward()
        opt.step()
    return {k: v.clone() for k, v in net.state_dict().items()}


state = train(build(), 6)
again = build()
again.load_state_dict(state, assign=True)
train(again, 6)
with torch.device("meta"):
    late = build()
late.to_empty(device="cpu")
late.load_state_dict(state)
train(late, 6)
