"""A flow of coupling and autoregressive transforms, trained by likelihood."""

import torch
from nflows import distributions, flows, transforms

x = torch.randn(64, 3)
layers = []
for _ in range(2):
    layers += [transforms.ReversePermutation(3), transforms.MaskedAffineAutoregressiveTransform(3, 16)]
    layers += [transforms.MaskedPiecewiseRationalQuadraticAutoregressiveTransform(3, 16, num_bins=4, tails="linear", tail_bound=3.0)]
flow = flows.Flow(transforms.CompositeTransform(layers), distributions.StandardNormal([3]))
optimizer = torch.optim.Adam(flow.parameters(), 1e-2)
for _ in range(8):
    loss = -flow.log_prob(x).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
flow.sample(4)
