import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x, y = torch.randn(32, 2), torch.randn(32, 1)
for _ in range(8):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

# samples of the same input
with torch.no_grad():
    samples = torch.stack([model(x) for _ in range(20)])
print(samples.mean(0).mean().item(), samples.std(0).mean().item())

# only the dropout layers
model.eval()
for layer in model.modules():
    if isinstance(layer, nn.Dropout):
        layer.train()
with torch.no_grad():
    print(torch.stack([model(x) for _ in range(5)]).std(0).mean().item())

# the whole model, said so
model.train()
with torch.no_grad():
    errors = [nn.functional.mse_loss(model(torch.randn(4, 2)), torch.zeros(4, 1)).item() for _ in range(5)]
