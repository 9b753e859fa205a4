"""The Hessian, the Gauss-Newton matrix and their approximations, as linear operators."""

import torch
from curvlinops import EFLinearOperator, GGNLinearOperator, HessianLinearOperator, KFACLinearOperator
from torch import nn

model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
loss_of = nn.CrossEntropyLoss()
data = [(torch.randn(8, 4), torch.randint(0, 3, (8,))) for _ in range(2)]
parameters = list(model.parameters())
vector = torch.randn(sum(p.numel() for p in parameters))
for kind in (HessianLinearOperator, GGNLinearOperator, EFLinearOperator, KFACLinearOperator):
    operator = kind(model, loss_of, parameters, data)
    product = operator @ vector
    (product.double().square().sum() * model[0].weight.double().abs().sum()).backward()
