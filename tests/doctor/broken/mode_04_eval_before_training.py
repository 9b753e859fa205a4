# code: mode_confusion
import torch
from torch import nn


def load_pretrained():
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Dropout2d(0.2), nn.Flatten(), nn.Linear(4 * 36, 3))
    return net.eval()  # LINE


class Trainer:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.AdamW(net.parameters(), lr=1e-3)

    def fit(self, steps):
        for _ in range(steps):
            images, labels = torch.randn(4, 1, 8, 8), torch.randint(0, 3, (4,))
            loss = nn.functional.cross_entropy(self.net(images), labels)  # ALSO
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()


Trainer(load_pretrained()).fit(3)
