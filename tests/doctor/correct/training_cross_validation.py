import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(60, 5)
y = (x @ torch.randn(5, 1)).squeeze(1)
results = {}
for decay in (0.0, 1e-3):
    for fold in range(4):
        hold = torch.arange(60) % 4 == fold
        net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 1))
        opt = torch.optim.Adam(net.parameters(), lr=1e-2, weight_decay=decay)
        best, wait = float("inf"), 0
        for epoch in range(20):
            net.train()
            for i in range(0, int((~hold).sum()), 15):
                opt.zero_grad()
                loss = nn.functional.mse_loss(net(x[~hold][i : i + 15]).squeeze(1), y[~hold][i : i + 15])
                loss.backward()
                opt.step()
            net.eval()
            with torch.no_grad():
                score = nn.functional.mse_loss(net(x[hold]).squeeze(1), y[hold])
            if score < best:
                best, wait = score, 0
            elif (wait := wait + 1) > 3:
                break
        results.setdefault(decay, []).append(best)
print({k: torch.stack(v).mean().item() for k, v in results.items()})
