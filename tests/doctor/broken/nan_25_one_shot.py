# code: nan_origin
import torch

x = torch.tensor([0.0, 1.0], requires_grad=True)
y = (x / x).sum()  # LINE
y.backward()
