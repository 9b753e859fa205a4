"""`retain_graph=True` keeps what the graph saved, so that it can be run again; `create_graph=True` records backward itself."""

import torch

x = torch.tensor(2.0, requires_grad=True)
y = x**3

y.backward(retain_graph=True)
print("3 x^2 =", x.grad.item())
y.backward()  # the last one: now the graph is freed
print("accumulated:", x.grad.item())

# A vector of losses, one row of the Jacobian at a time.
v = torch.tensor([1.0, 2.0], requires_grad=True)
out = torch.stack([v[0] * v[1], v.sum() ** 2])
rows = []
for i in range(2):
    (row,) = torch.autograd.grad(out[i], v, retain_graph=True)
    rows.append(row)
print("Jacobian:", torch.stack(rows).tolist())

# With create_graph the gradient is a result like any other, and has derivatives of its own.
x = torch.tensor(2.0, requires_grad=True)
order = x**4
for n in range(1, 5):
    (order,) = torch.autograd.grad(order, x, create_graph=True)
    print(f"derivative {n} of x^4 at 2:", order.item())
