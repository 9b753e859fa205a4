import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm, weight_norm

for wrap in (spectral_norm, weight_norm):
    layer = wrap(nn.Linear(4, 3))
    opt = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(3):
        opt.zero_grad()
        layer(torch.randn(6, 4)).pow(2).mean().backward()
        opt.step()
    layer.eval()
    norms = [layer.weight for _ in range(4)]  # one and the same, and no batch of an evaluation
    layer.train()
    opt.zero_grad()
    layer(torch.randn(6, 4)).pow(2).mean().backward()
    opt.step()
    print([float(w.norm()) for w in norms])
