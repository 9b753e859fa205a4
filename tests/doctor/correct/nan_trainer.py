import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.bn = nn.BatchNorm2d(4)
        self.fc = nn.Linear(4 * 4, 3)

    def forward(self, x):
        x = torch.relu(self.bn(self.conv(x)))
        x = nn.functional.adaptive_max_pool2d(x, 2).flatten(1)
        return self.fc(x)


net = Net()
opt = torch.optim.AdamW(net.parameters())
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 10)
for ep in range(4):
    net.train()
    for _ in range(3):
        loss = nn.functional.cross_entropy(net(torch.randn(4, 1, 8, 8)), torch.randint(0, 3, (4,)))
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
    sched.step()
    net.eval()
    with torch.no_grad():
        net(torch.randn(4, 1, 8, 8)).argmax(1)
