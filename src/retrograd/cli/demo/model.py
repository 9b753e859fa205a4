"""The character GPT and the text it learns: all written against the API that retrograd and PyTorch share, whichever `torch` is handed in."""

from __future__ import annotations

import ast
import math
from pathlib import Path
from typing import Any, NamedTuple

BLOCK = 64  # characters the model sees
WIDTH, HEADS, LAYERS = 96, 4, 3
BATCH = 16
RATE, WARM_UP = 3e-3, 0.05  # the learning rate, and the part of the run that it takes to reach it


def docstrings() -> str:
    """What there is to read in every installation: the docstrings of the package."""
    package = Path(__file__).resolve().parents[2]
    pieces = []
    for path in sorted(package.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (text := ast.get_docstring(node)):
                pieces.append(text)
    return "\n\n".join(pieces)


class Corpus(NamedTuple):
    """A text as numbers: the characters there are, and for each place of the text which it is."""

    characters: str
    codes: Any

    @classmethod
    def of(cls, torch: Any, text: str) -> Corpus:
        characters = "".join(sorted({c for c in text if c == "\n" or c.isprintable()} & set(map(chr, range(128)))))
        place = {c: i for i, c in enumerate(characters)}
        return cls(characters, torch.tensor([place[c] for c in text if c in place]))

    def batch(self, torch: Any) -> tuple[Any, Any]:
        """Random stretches of the text, and the same one character later."""
        starts = torch.randint(len(self.codes) - BLOCK - 1, (BATCH, 1))
        places = starts + torch.arange(BLOCK + 1)
        rows = self.codes[places]
        return rows[:, :-1], rows[:, 1:]

    def text(self, codes: list[int]) -> str:
        return "".join(self.characters[c] for c in codes)


def make_model(torch: Any, symbols: int) -> Any:
    """A GPT of a few layers."""
    nn = torch.nn

    class Layer(nn.Module):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.attention, self.project = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.widen, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x: Any) -> Any:
            batch, length, _ = x.shape
            heads = self.attention(self.norm1(x)).view(batch, length, 3, HEADS, WIDTH // HEADS)
            query, key, value = heads.permute(2, 0, 3, 1, 4)
            seen = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
            x = x + self.project(seen.transpose(1, 2).reshape(batch, length, WIDTH))
            return x + self.narrow(nn.functional.gelu(self.widen(self.norm2(x))))

    class GPT(nn.Module):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.symbols, self.places = nn.Embedding(symbols, WIDTH), nn.Embedding(BLOCK, WIDTH)
            self.layers = nn.ModuleList([Layer() for _ in range(LAYERS)])
            self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, symbols)
            for parameter in self.parameters():
                if parameter.dim() > 1:
                    nn.init.normal_(parameter, std=0.05)

        def forward(self, codes: Any) -> Any:
            x = self.symbols(codes) + self.places(torch.arange(codes.shape[1]))
            for layer in self.layers:
                x = layer(x)
            return self.head(self.norm(x))

    return GPT()


class Trainer:
    """A model, its optimizer, and the text."""

    def __init__(self, torch: Any, corpus: Corpus) -> None:
        self.torch, self.corpus = torch, corpus
        self.model = make_model(torch, len(corpus.characters))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=RATE, betas=(0.9, 0.99))

    def step(self, progress: float) -> tuple[Any, Any]:
        """One step, `progress` of the way through the run; the loss and the norm of all gradients."""
        torch = self.torch
        inputs, targets = self.corpus.batch(torch)
        rate = min(1.0, (progress + 0.01) / WARM_UP) * (0.55 + 0.45 * math.cos(math.pi * min(1.0, progress)))
        for group in self.optimizer.param_groups:
            group["lr"] = RATE * rate
        logits = self.model(inputs)
        loss = torch.nn.functional.cross_entropy(logits.view(-1, logits.shape[-1]), targets.reshape(-1))
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.detach(), norm

    def norms(self) -> dict[str, float]:
        """Norms of the gradients of the last step, by part of the model."""
        sums: dict[str, float] = {}
        for name, parameter in self.model.named_parameters():
            part = ".".join(name.split(".")[:2]) if name.startswith("layers") else name.split(".")[0]
            if parameter.grad is not None:
                sums[part] = sums.get(part, 0.0) + parameter.grad.pow(2).sum().item()
        return {part.replace("layers.", "layer "): math.sqrt(total) for part, total in sums.items()}

    def sample(self, length: int, start: str = "\n") -> str:
        """Text from the model, one character after the other."""
        torch = self.torch
        codes = [max(0, self.corpus.characters.find(c)) for c in start]
        with torch.no_grad():
            for _ in range(length):
                logits = self.model(torch.tensor([codes[-BLOCK:]]))[0, -1]
                codes.append(int(torch.multinomial(torch.softmax(logits / 0.8, 0), 1).item()))
        return self.corpus.text(codes[len(start) :])
