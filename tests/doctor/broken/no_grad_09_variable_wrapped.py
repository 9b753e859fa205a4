# code: training_without_grad
import torch
from torch import nn
from torch.autograd import Variable

model = nn.Linear(2, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.5)
for epoch in range(3):
    with torch.no_grad():  # LINE
        error = model(torch.randn(4, 2)).abs().mean()
    loss = Variable(error, requires_grad=True)  # ALSO
    opt.zero_grad()
    loss.backward()
    opt.step()
