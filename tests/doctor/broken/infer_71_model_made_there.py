# code: inference_tensor_misuse
import torch
from torch import nn

with torch.inference_mode():
    model = nn.Linear(3, 2)  # ALSO
opt = torch.optim.SGD(model.parameters(), 0.1)
x = torch.randn(4, 3)
loss = model(x).pow(2).mean()
opt.zero_grad()
loss.backward()
opt.step()  # LINE
