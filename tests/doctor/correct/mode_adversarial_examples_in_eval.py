import torch
from torch import nn

model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Dropout(0.3), nn.Linear(10, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def attack(x, y, steps=3, size=0.1):
    model.eval()
    adversarial = x.clone()
    for _ in range(steps):
        adversarial = adversarial.detach().requires_grad_()
        loss = nn.functional.cross_entropy(model(adversarial), y)
        (gradient,) = torch.autograd.grad(loss, adversarial)
        adversarial = adversarial + size * gradient.sign()
    model.train()
    return adversarial.detach()


for _ in range(4):
    x, y = torch.randn(6, 5), torch.randint(0, 2, (6,))
    loss = nn.functional.cross_entropy(model(attack(x, y)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

model.eval()
path = [(alpha / 5 * torch.randn(1, 5)).requires_grad_() for alpha in range(6)]
scores = [model(point)[0, 0] for point in path]  # integrated gradients: the graphs are used together
torch.autograd.grad(sum(scores), path)
