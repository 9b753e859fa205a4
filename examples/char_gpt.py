"""A small transformer learns to write, character by character, from the pages of this project."""

import argparse
import pathlib

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = (part.view(n, t, self.heads, -1).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(n, t, c))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, vocabulary, context=64, width=64, depth=2, heads=4):
        super().__init__()
        self.context = context
        self.token, self.place = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.token.weight
        nn.init.normal_(self.token.weight, std=0.02)
        nn.init.normal_(self.place.weight, std=0.02)

    def forward(self, tokens):
        x = self.token(tokens) + self.place(torch.arange(tokens.size(1)))
        return self.head(self.norm(self.blocks(x)))

    @torch.no_grad()
    def write(self, tokens, count):
        for _ in range(count):
            logits = self(tokens[:, -self.context :])[:, -1]
            tokens = torch.cat([tokens, torch.multinomial(logits.softmax(-1), 1)], dim=1)
        return tokens


def main(steps, length):
    torch.manual_seed(0)
    root = pathlib.Path(__file__).resolve().parent.parent
    pages = [root / "LICENSE"] if length else [root / "README.md", root / "ARCHITECTURE.md", root / "docs" / "differences.md"]
    text = "\n".join(page.read_text() for page in pages)[:length]
    letters = sorted(set(text))
    number = {c: i for i, c in enumerate(letters)}
    data = torch.tensor([number[c] for c in text])
    model = GPT(len(letters))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.95), weight_decay=0.1)
    print(f"{len(data)} characters, {len(letters)} different ones, {sum(p.numel() for p in model.parameters())} parameters")

    for step in range(steps):
        start = torch.randint(len(data) - model.context, (16,))
        window = torch.stack([data[i : i + model.context + 1] for i in start])
        loss = F.cross_entropy(model(window[:, :-1]).flatten(0, 1), window[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % max(steps // 10, 1) == 0:
            print(f"step {step:5d}  loss {loss.item():.5f}  gradient {norm.item():.4f}")
    if steps > 100:
        written = model.write(torch.tensor([[number["\n"]]]), 300)[0]
        print("".join(letters[i] for i in written.tolist()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few steps, for tests")
    main(*(10, 1000) if parser.parse_args().short else (1500, None))
