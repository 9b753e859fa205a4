import torch
from torch import nn

torch.manual_seed(0)
blocks = nn.ModuleList([nn.Linear(4, 4)])
optimizer = torch.optim.SGD(blocks.parameters(), lr=0.01)


def forward(x):
    for block in blocks:
        x = torch.tanh(block(x))
    return x


def train(steps):
    for _ in range(steps):
        x = torch.randn(8, 4)
        optimizer.zero_grad()
        (forward(x) - x).abs().mean().backward()
        optimizer.step()


train(5)
new = nn.Linear(4, 4)
blocks.append(new)
optimizer.add_param_group({"params": new.parameters(), "lr": 0.1})
train(5)
blocks[0] = nn.Linear(4, 4)
optimizer = torch.optim.SGD(blocks.parameters(), lr=0.01)
train(5)
model = nn.Linear(4, 4).double().to(torch.float32)  # conversions keep the parameters that they are
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model.to("cpu").float()
model.load_state_dict(new.state_dict())
for _ in range(4):
    optimizer.zero_grad()
    model(torch.randn(3, 4)).pow(2).mean().backward()
    optimizer.step()
