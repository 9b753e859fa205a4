# code: graph_leak
import torch
from torch import nn

torch.manual_seed(0)


class Averaged(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    def step(self):
        for p in self.param_groups[0]["params"]:
            state = self.state[p]
            state["mean"] = 0.9 * state.get("mean", 0.0) + 0.1 * p  # LINE, ALSO
            with torch.no_grad():
                p.sub_(p.grad, alpha=self.param_groups[0]["lr"])


net = nn.Linear(3, 2)
opt = Averaged(net.parameters(), 0.05)
for _ in range(25):
    opt.zero_grad()
    net(torch.randn(8, 3)).pow(2).mean().backward()
    opt.step()
