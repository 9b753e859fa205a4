import torch
from torch import nn

model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(12, 3), torch.randint(0, 2, (12,))
for _ in range(5):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    with torch.no_grad():
        p = model(x).softmax(1)
        empty = p[torch.zeros(12, dtype=torch.bool)].mean()
        ratio = p.sum() / torch.zeros(())
        perplexity = torch.log(torch.zeros(3))
