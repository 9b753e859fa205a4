"""Optimization on the sphere, the Stiefel manifold and in hyperbolic space."""

import geoopt
import torch

for manifold, shape in ((geoopt.Sphere(), (5,)), (geoopt.Stiefel(), (6, 3)), (geoopt.PoincareBall(), (4, 2))):
    goal = manifold.random(*shape) if hasattr(manifold, "random") else manifold.projx(torch.randn(*shape))
    point = geoopt.ManifoldParameter(manifold.projx(torch.randn(*shape) * 0.3), manifold=manifold)
    for kind in (geoopt.optim.RiemannianAdam, geoopt.optim.RiemannianSGD):
        optimizer = kind([point], lr=0.05)
        for _ in range(5):
            loss = (point - goal.detach()).square().sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
