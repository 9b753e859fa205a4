# code: mode_confusion
import torch
from torch import nn

torch.manual_seed(0)


class Regressor(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(4, width), nn.BatchNorm1d(width), nn.SiLU(), nn.Linear(width, width), nn.BatchNorm1d(width), nn.SiLU()
        )
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return self.head(self.body(x)).squeeze(-1)


@torch.inference_mode()
def predict(model, batches):
    return torch.cat([model(b) for b in batches])  # LINE


model = Regressor()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
data = torch.randn(80, 4)
target = data[:, 0] * data[:, 1]
for step in range(40):
    idx = torch.randint(0, 80, (20,))
    loss = (model(data[idx]) - target[idx]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
test = torch.randn(30, 4)
print(predict(model, test.split(10)).numpy()[:3])
