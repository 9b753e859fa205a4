# Graphs in cycles wait for the collector, many at a time.
import torch


class Node:
    def __init__(self, loss):
        self.loss, self.me = loss, self


w = torch.randn(4, requires_grad=True)
for _ in range(300):
    loss = (w * torch.randn(4)).square().sum()
    Node(loss)
    loss.backward()
    w.grad = None
