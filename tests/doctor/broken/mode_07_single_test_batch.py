# code: mode_confusion
import torch
from torch import nn

torch.manual_seed(1)
net = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Dropout(), nn.Linear(12, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
X, Y = torch.randn(30, 6), torch.randint(0, 3, (30,))
for _ in range(5):
    opt.zero_grad()
    logits = net(X)  # ALSO
    nn.functional.cross_entropy(logits, Y).backward()
    opt.step()

with torch.inference_mode():
    test_logits = net(torch.randn(10, 6))  # LINE
    accuracy = (test_logits.argmax(1) == torch.randint(0, 3, (10,))).float().mean()
    print(f"accuracy {accuracy.item():.2f}")
