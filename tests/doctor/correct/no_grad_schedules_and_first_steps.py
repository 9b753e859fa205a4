import torch
from torch import nn

model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
rates = []
for _ in range(6):  # only the schedule is looked at
    optimizer.step()
    scheduler.step()
    rates.append(scheduler.get_last_lr()[0])

x = torch.tensor(3.0, requires_grad=True)
(x * x).backward()
x.grad = None
x.backward()
print(x.grad)


def evolve(generations):  # without gradients on purpose
    best = None
    with torch.no_grad():
        for _ in range(generations):
            noise = [torch.randn_like(p) for p in model.parameters()]
            for p, n in zip(model.parameters(), noise):
                p.add_(0.1 * n)
            fitness = -model(torch.ones(4, 3)).pow(2).mean().item()
            if best is not None and fitness < best:
                for p, n in zip(model.parameters(), noise):
                    p.sub_(0.1 * n)
            else:
                best = fitness
    return best


evolve(6)
