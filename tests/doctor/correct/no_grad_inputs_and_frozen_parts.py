import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
for p in model.parameters():
    p.requires_grad_(False)

# the gradient of an input of a frozen model
image = torch.rand(1, 4).requires_grad_()
for _ in range(4):
    score = model(image)[0, 0]
    score.backward()
    with torch.no_grad():
        image += 0.1 * image.grad.sign()
    image.grad = None

# a perturbation that is learned by an optimizer
delta = torch.zeros(1, 4, requires_grad=True)
optimizer = torch.optim.SGD([delta], lr=0.1)
for _ in range(4):
    loss = nn.functional.cross_entropy(model(image.detach() + delta), torch.tensor([1]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

# attacks that begin anew from detached steps
adversarial = torch.rand(1, 4)
for _ in range(3):
    adversarial = adversarial.detach().requires_grad_(True)
    nn.functional.cross_entropy(model(adversarial), torch.tensor([0])).backward()
    adversarial = adversarial + 0.05 * adversarial.grad.sign()
