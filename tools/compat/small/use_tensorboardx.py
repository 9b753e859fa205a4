"""A run written down: scalars, histograms, images, text and the module's parameters."""

import torch
from tensorboardX import SummaryWriter
from torch import nn

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
with SummaryWriter("runs") as writer:
    for n in range(5):
        loss = model(torch.randn(8, 4)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        writer.add_scalar("loss", loss, n)
        writer.add_histogram("weight", model.weight, n)
        writer.add_histogram("gradient", model.weight.grad, n)
        writer.add_image("image", torch.rand(3, 8, 8), n)
        writer.add_text("note", f"step {n}", n)
    writer.add_embedding(torch.randn(6, 3), metadata=list("abcdef"))
    writer.add_hparams({"lr": 0.1}, {"loss": loss.item()})
