"""Layers of low rank beside frozen ones."""

import loralib
import torch
from torch import nn

model = nn.Sequential(
    loralib.Embedding(20, 16, r=4),
    loralib.Linear(16, 32, r=4),
    nn.ReLU(),
    loralib.MergedLinear(32, 6, r=2, enable_lora=[True, False, True]),
)
loralib.mark_only_lora_as_trainable(model)
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], 0.05)
x, y = torch.randint(0, 20, (8, 5)), torch.randn(8, 5, 6)
for n in range(10):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if n == 5:
        model.eval()
        model.train()
optimizer.zero_grad()
parameters = dict(model.named_parameters())
sum((parameters[name] ** 2).sum() for name in loralib.lora_state_dict(model)).backward()
