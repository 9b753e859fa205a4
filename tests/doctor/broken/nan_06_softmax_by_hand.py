# code: nan_origin
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
        self.scale = 500.0

    def forward(self, x):
        logits = self.fc(x) * self.scale
        e = torch.exp(logits)  # LINE
        return e / e.sum(dim=1, keepdim=True)


torch.manual_seed(3)
model = Classifier()
opt = torch.optim.Adam(model.parameters())
x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
for _ in range(3):
    p = model(x)
    loss = -(p[torch.arange(8), y]).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
