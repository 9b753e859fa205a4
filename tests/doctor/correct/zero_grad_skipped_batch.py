import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.Adam(model.parameters())
scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
for i in range(10):
    optimizer.zero_grad()
    x = torch.randn(8, 3)
    loss = (model(x) - x[:, :1]).pow(2).mean()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    if i == 4 and norm > 0:
        optimizer.zero_grad()  # a batch that is left out
    scaler.step(optimizer)
    scaler.update()
    if i % 5 == 4:
        adversarial = x.clone().requires_grad_()
        model(adversarial).sum().backward()  # its gradients for the model are zeroed above
        x + 0.1 * adversarial.grad.sign()
