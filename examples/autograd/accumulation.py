"""`.grad` is added to, never overwritten: large batches in parts, and the classic bug of a forgotten `zero_grad`."""

import torch

torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
data, target = torch.randn(8, 3), torch.randn(8, 1)
loss_of = torch.nn.functional.mse_loss

loss_of(model(data), target).backward()
whole = model.weight.grad.clone()

# The same gradient from four parts: each loss is divided by the number of parts, and the gradients add up.
model.zero_grad()
print("after zero_grad:", model.weight.grad)
for part, goal in zip(data.split(2), target.split(2), strict=True):
    (loss_of(model(part), goal) / 4).backward()
print("parts give the gradient of the whole:", torch.allclose(model.weight.grad, whole))

# Forget zero_grad, and the next gradient comes on top of the old one.
loss_of(model(data), target).backward()
print("without zero_grad it is twice as large:", torch.allclose(model.weight.grad, 2 * whole))

# torch.autograd.grad returns gradients and leaves .grad alone.
before = model.weight.grad.clone()
(gradient,) = torch.autograd.grad(loss_of(model(data), target), model.weight)
print("autograd.grad adds to nothing:", torch.equal(model.weight.grad, before), torch.allclose(gradient, whole))

# zero_grad sets .grad to None; set_to_none=False writes zeros into the tensor that is there.
kept = model.weight.grad
model.zero_grad(set_to_none=False)
print("zeros in the same tensor:", model.weight.grad is kept, kept.abs().sum().item())
