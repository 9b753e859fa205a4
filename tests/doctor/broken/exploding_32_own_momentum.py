# code: exploding_gradient
import torch
from torch import nn


class Heavy(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-2, momentum=0.9):
        super().__init__(params, {"lr": lr, "momentum": momentum})

    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                v = state.setdefault("v", torch.zeros_like(p.data))
                v.mul_(group["momentum"]).add_(p.grad.data)
                p.data.add_(v, alpha=-group["lr"])


torch.manual_seed(0)
rnn, out = nn.RNN(2, 6, batch_first=True), nn.Linear(6, 1)
opt = Heavy([*rnn.parameters(), *out.parameters()], lr=1e-4)
for step in range(25):
    x = torch.randn(4, 5, 2)
    if step == 20:
        x[0] *= 1e4
    loss = (out(rnn(x)[0]) - x.sum(2, keepdim=True)).square().sum()
    opt.zero_grad()
    loss.backward()  # LINE
    opt.step()
