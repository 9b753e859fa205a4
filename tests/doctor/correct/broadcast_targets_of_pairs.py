import torch
from torch import nn

# The target is a table of pairs, made without gradients from a column and a row, and the predictions are such a table too.
embed = nn.Linear(5, 3)
optimizer = torch.optim.Adam(embed.parameters(), lr=1e-2)
for step in range(6):
    x = torch.randn(12, 5)
    with torch.no_grad():
        norms = x.pow(2).sum(1, keepdim=True)
        distances = (norms + norms.squeeze(1) - 2 * x @ x.T).clamp_min(0)
    z = embed(x)
    predicted = torch.cdist(z, z).pow(2)
    loss = nn.functional.mse_loss(predicted, distances)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
