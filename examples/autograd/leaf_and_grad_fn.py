"""Leaves are what you made, everything else remembers the op that made it: `is_leaf`, `grad_fn`, and where gradients end up."""

import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)  # made by hand: a leaf
c = torch.tensor([4.0, 5.0, 6.0])  # a leaf too, but nobody asked for its gradient
y = x * c
z = y.sum()

for name, tensor in (("x", x), ("c", c), ("y", y), ("z", z)):
    made_by = type(tensor.grad_fn).__name__ if tensor.grad_fn is not None else "nobody"
    print(f"{name}: leaf={tensor.is_leaf} requires_grad={tensor.requires_grad} made by {made_by}")

y.retain_grad()  # gradients of tensors in between are not kept unless you ask
z.backward()
print("x.grad =", x.grad)
print("y.grad =", y.grad)
print("c.grad =", c.grad)

# An op on leaves that require no gradient makes a leaf: there is nothing to remember.
print("c * 2 is a leaf:", (c * 2).is_leaf)
# What was moved or converted is a result, no leaf: its gradient goes to the tensor it was made from.
print("x.double() is a leaf:", x.double().is_leaf)
