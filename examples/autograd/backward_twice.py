"""Backward frees what the graph saved: a second backward is an error, unless nothing was needed a second time."""

import torch

x = torch.tensor(3.0, requires_grad=True)

y = x * x  # saves x for its derivative
y.backward()
print("first time: x.grad =", x.grad.item())
try:
    y.backward()
except RuntimeError as error:
    print("second time:", str(error).split(" (")[0])

# The error is about saved values, not about the count: a sum saves none.
x.grad = None
total = (x + x).sum()
total.backward()
total.backward()
print("a graph that saved nothing: x.grad =", x.grad.item())

# Two losses that share a part of the graph are the usual way to meet this.
x.grad = None
shared = x.exp()
first, second = shared * 2, shared * 3
first.backward()
try:
    second.backward()
except RuntimeError as error:
    print("a shared part:", str(error).split(" (")[0])

# One backward of the sum goes through the shared part once.
x.grad = None
shared = x.exp()
(shared * 2 + shared * 3).backward()
print("one backward of both: x.grad / exp(x) =", round((x.grad / x.detach().exp()).item(), 4))
