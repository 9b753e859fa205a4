"""A small transformer in mixed precision, the same on either engine. tools/make_references.py stores the losses that PyTorch gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

STORED = Path(__file__).with_name("losses.json")
STEPS = 40


def model(torch: Any, width: int = 32, heads: int = 4, words: int = 12, length: int = 10) -> Any:
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
            self.all, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

        def forward(self, x: Any) -> Any:
            b, t, _ = x.shape
            q, k, v = (part.view(b, t, heads, -1).transpose(1, 2) for part in self.all(self.before(x)).chunk(3, -1))
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(mixed.transpose(1, 2).reshape(b, t, -1))
            return x + self.mlp(self.between(x))

    class Transformer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
            self.blocks = nn.Sequential(Block(), Block())
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

        def forward(self, x: Any) -> Any:
            return self.head(self.norm(self.blocks(self.words(x) + self.places(torch.arange(x.size(1))))))

    return Transformer()


def losses(torch: Any, precision: str) -> list[float]:
    """Of counting upwards from random starts: "float32", "bfloat16", or "float16" with a scaler whose scale overflows at first."""
    torch.manual_seed(0)
    net = model(torch)
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24, growth_interval=10, enabled=precision == "float16")
    generator = torch.Generator().manual_seed(1)
    found = []
    for _ in range(STEPS):
        start = torch.randint(0, 12, (16, 1), generator=generator)
        text = (start + torch.arange(11)) % 12
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=getattr(torch, precision), enabled=precision != "float32"):
            logits = net(text[:, :-1])
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        found.append(loss.item())
    return found


def store(torch: Any) -> None:
    STORED.write_text(json.dumps({p: [round(v, 5) for v in losses(torch, p)] for p in ("float32", "bfloat16", "float16")}) + "\n")
