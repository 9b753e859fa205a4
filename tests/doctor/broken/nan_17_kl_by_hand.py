# code: nan_origin
import torch


def kl(p, q):
    return (p * (p / q).log()).sum(-1).mean()  # LINE


logits = torch.nn.Parameter(torch.randn(4, 3))
target = torch.tensor([[0.5, 0.5, 0.0]] * 4)
optimizer = torch.optim.SGD([logits], lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    kl(target, logits.softmax(-1)).backward()
    optimizer.step()
