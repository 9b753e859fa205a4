# code: nan_origin
import torch

x = torch.tensor([0.0, 1.0], requires_grad=True)
y = torch.where(x > 0, x.log(), x)  # LINE
y.sum().backward()
print(x.grad)
