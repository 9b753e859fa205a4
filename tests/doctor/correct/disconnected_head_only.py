import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.backbone(x))


frozen = Net()
frozen.backbone.requires_grad_(False)
for model, params in ((frozen, frozen.parameters()), (net := Net(), net.head.parameters())):
    optimizer = torch.optim.SGD(params, lr=0.1)
    for _ in range(6):
        x = torch.randn(5, 4)
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), x[:, :2]).backward()
        optimizer.step()
