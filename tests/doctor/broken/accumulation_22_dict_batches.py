# code: grad_accumulation_scaling
import torch
from torch import nn


def run(model, data, opt, accum=16):
    model.train()
    running = 0
    for step, batch in enumerate(data):
        out = model(batch["x"])
        loss = nn.functional.mse_loss(out, batch["y"])
        loss.backward()  # LINE
        running += loss.item()
        if step % accum == accum - 1:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            opt.zero_grad()


m = nn.Linear(3, 1)
run(m, [{"x": torch.randn(4, 3), "y": torch.randn(4, 1)} for _ in range(64)], torch.optim.AdamW(m.parameters()))
