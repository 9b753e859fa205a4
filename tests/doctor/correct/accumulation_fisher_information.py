"""Squared gradients of single samples, for elastic weight consolidation, then a penalty from them."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.05)


def fit(shift, penalty=None):
    for _ in range(6):
        x = torch.randn(16, 4) + shift
        loss = nn.functional.cross_entropy(net(x), (x[:, 0] > shift).long())
        if penalty is not None:
            loss = loss + penalty()
        opt.zero_grad()
        loss.backward()
        opt.step()


fit(0.0)
fisher = {n: torch.zeros_like(p) for n, p in net.named_parameters()}
net.eval()
for x in torch.randn(12, 1, 4):
    net.zero_grad()
    logp = net(x).log_softmax(1)
    y = torch.distributions.Categorical(logits=logp).sample()
    nn.functional.nll_loss(logp, y).backward()
    for n, p in net.named_parameters():
        fisher[n] += p.grad.pow(2) / 12
anchor = {n: p.detach().clone() for n, p in net.named_parameters()}
net.train()
fit(2.0, lambda: 10 * sum((fisher[n] * (p - anchor[n]).pow(2)).sum() for n, p in net.named_parameters()))
