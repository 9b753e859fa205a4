# code: disconnected_parameter
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.Linear(6, width)
        self.mid = nn.Linear(width, width)  # LINE
        self.head = nn.Linear(width, 3)

    def forward(self, x):
        h = torch.tanh(self.embed(x))
        h = torch.tanh(self.embed(x)) + h
        return self.head(h)


def main():
    torch.manual_seed(0)
    model = Classifier(5)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)  # ALSO
    for _ in range(4):
        x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
        opt.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        opt.step()


main()
