# code: graph_leak
import torch
from torch import nn


def make_reporter(loss):
    def report():
        return loss.item()

    return report


def main():
    model = nn.Linear(4, 1)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    reporters = []
    for i in range(7):
        loss = model(torch.randn(3, 4)).abs().mean()  # LINE
        opt.zero_grad()
        loss.backward()
        opt.step()
        reporters.append(make_reporter(loss))  # ALSO
    return [r() for r in reporters]


main()
