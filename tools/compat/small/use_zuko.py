"""Normalizing flows of several kinds, trained by likelihood."""

import torch
import zuko

x, context = torch.randn(64, 3), torch.randn(64, 2)
for flow in (
    zuko.flows.MAF(3, 2, transforms=2, hidden_features=(16, 16)),
    zuko.flows.NSF(3, 2, bins=4, transforms=2, hidden_features=(16, 16)),
    zuko.flows.RealNVP(3, 2, transforms=2, hidden_features=(16, 16)),
):
    optimizer = torch.optim.Adam(flow.parameters(), 1e-2)
    for _ in range(5):
        loss = -flow(context).log_prob(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    flow(context[:4]).rsample((2,)).sum().backward()
