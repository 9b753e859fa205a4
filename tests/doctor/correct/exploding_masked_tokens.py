import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(20, 16), nn.Linear(16, 20))
opt = torch.optim.Adam(model.parameters(), 1e-3, weight_decay=1e-5)
for step in range(60):
    ids = torch.randint(0, 20, (4, 10))
    mask = torch.zeros(4, 10)
    if step % 8 == 7:
        mask[0, 3] = 1.0
    per_token = F.cross_entropy(model(ids).flatten(0, 1), ids.roll(1, 1).flatten(), reduction="none")
    loss = (per_token * mask.flatten()).sum() / 40 + 1e-5 * model[1].weight.pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
