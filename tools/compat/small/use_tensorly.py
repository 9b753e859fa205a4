"""Decompositions with gradients."""

import tensorly
import torch
from tensorly.decomposition import parafac, partial_tucker, tucker

tensorly.set_backend("pytorch")
tensor = torch.randn(5, 6, 7, dtype=torch.float64)
target = tensor.clone().requires_grad_()
core, factors = tucker(target, rank=[3, 3, 3], init="random", random_state=0, n_iter_max=5)
(tensorly.tucker_to_tensor((core, factors)) - target).square().sum().backward()
weights, factors = parafac(tensor, rank=3, init="random", random_state=0, n_iter_max=8)
again = tensorly.cp_to_tensor((weights, factors))
parameters = [factor.detach().clone().requires_grad_() for factor in factors]
optimizer = torch.optim.Adam(parameters, 0.01)
for _ in range(8):
    loss = (tensorly.cp_to_tensor((None, parameters)) - tensor).square().mean() + 0 * again.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
(core, factors), _ = partial_tucker(tensor, rank=[2, 2], modes=[0, 1], init="random", random_state=0, n_iter_max=3)
(core.square().sum() + parameters[0].sum()).backward()
