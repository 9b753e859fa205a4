"""Ways out of the graph: `detach` shares the memory, `item` is a Python number, and a list of losses that keeps every graph alive."""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 3

cut = y.detach()
print("detached:", cut.requires_grad, cut.grad_fn, "same memory:", cut.data_ptr() == y.data_ptr())

# A detached factor counts as a constant: d/dx of x * (3x) is 6x, of x * constant is the constant.
(x * y).sum().backward(retain_graph=True)
print("whole:", x.grad.tolist())
x.grad = None
(x * cut).sum().backward()
print("detached factor:", x.grad.tolist())

# The memory is shared, so a write to the detached tensor changes y. Take a copy to be apart: y.detach().clone().
cut[0] = -1.0
print("y after a write to the detached tensor:", y.tolist())

# A running sum of losses keeps the graphs of all of them; a sum of numbers keeps none.
total, total_number = 0.0, 0.0
for _ in range(3):
    loss = (x.detach() * torch.ones(2, requires_grad=True)).sum()
    total = total + loss
    total_number += loss.item()
print("a sum of losses is a tensor with history:", total.grad_fn is not None)
print("a sum of items is a", type(total_number).__name__, total_number)

try:
    x.item()
except RuntimeError as error:
    print("item():", str(error).split("\n")[0])
try:
    x.numpy()
except RuntimeError as error:
    print("numpy():", str(error).split(".")[0])
