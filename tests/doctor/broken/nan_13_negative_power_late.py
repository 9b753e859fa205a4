# code: nan_origin
import torch


class Energy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.x = torch.nn.Parameter(torch.tensor([3.0]))

    def forward(self):
        return (self.x**1.5).sum()  # LINE


model = Energy()
optimizer = torch.optim.SGD(model.parameters(), lr=0.11)
for step in range(50):
    optimizer.zero_grad()
    loss = model() + model.x.sum()
    loss.backward()
    optimizer.step()
