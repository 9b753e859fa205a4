"""log(sum(exp(x))) by the formula overflows, and so does its gradient; shifted by the maximum both are right."""

import torch


def naive(x):
    return x.exp().sum().log()


def shifted(x):
    # The shift cancels out, so it is a constant: detach() keeps it out of the graph.
    m = x.max().detach()
    return m + (x - m).exp().sum().log()


for values in ([0.0, 1.0, 2.0], [1000.0, 1001.0, 1002.0], [-1000.0, -1001.0, -1002.0]):
    print("x =", values)
    for name, function in (("naive", naive), ("shifted", shifted), ("torch.logsumexp", lambda x: torch.logsumexp(x, 0))):
        x = torch.tensor(values, requires_grad=True)
        y = function(x)
        y.backward()
        print(f"  {name:16} value {y.item():10.4f}  gradient", [round(g, 4) for g in x.grad.tolist()])

# The gradient of log-sum-exp is softmax, whose sum is one.
x = torch.tensor([1000.0, 1001.0, 1002.0], dtype=torch.double, requires_grad=True)
torch.logsumexp(x, 0).backward()
print("gradient is softmax:", torch.allclose(x.grad, torch.softmax(x.detach(), 0)))
print("gradcheck of the shifted one:", torch.autograd.gradcheck(shifted, (x,)))
