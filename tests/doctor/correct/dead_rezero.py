import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.alpha = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return x + self.alpha * torch.tanh(self.fc(x))


torch.manual_seed(0)
net = nn.Sequential(Block(), Block(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: i / 10)
for _ in range(5):
    optimizer.zero_grad()
    for x in torch.randn(24, 4).split(6):  # four backwards before the first step
        (nn.functional.mse_loss(net(x), x[:, :1]) / 4).backward()
    optimizer.step()
    warmup.step()

lora_a, lora_b = nn.Parameter(torch.randn(4, 2)), nn.Parameter(torch.zeros(2, 4))
optimizer = torch.optim.Adam([lora_a, lora_b], lr=1e-3)
for _ in range(4):
    x = torch.randn(6, 4)
    optimizer.zero_grad()
    (x + x @ lora_a @ lora_b - 1).pow(2).mean().backward()
    optimizer.step()
