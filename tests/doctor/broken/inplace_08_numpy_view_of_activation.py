# code: inplace_corruption
import torch

layer = torch.nn.Linear(3, 3)


def features(x):
    h = layer(x)
    return torch.sigmoid(h)  # LINE


def normalise(array):
    array -= array.mean()  # ALSO


out = features(torch.randn(4, 3))
normalise(out.detach().numpy())
out.sum().backward()
