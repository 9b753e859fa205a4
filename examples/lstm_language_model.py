"""A recurrent language model with truncated backpropagation: the state goes on from window to window, its history does not."""

import argparse

import torch
from torch import nn

RULES = {"a": "bcb", "b": "ca", "c": "abca", "d": "ad"}


def text(length):
    """A language of four letters in which each is written out by a rule, again and again."""
    line = "abcd"
    while len(line) < length:
        line = "".join(RULES[c] for c in line)
    return torch.tensor([ord(c) - ord("a") for c in line[:length]])


class Model(nn.Module):
    def __init__(self, letters=4, hidden=64):
        super().__init__()
        self.embedding = nn.Embedding(letters, 16)
        self.lstm = nn.LSTM(16, hidden, num_layers=2, batch_first=True, dropout=0.1)
        self.head = nn.Linear(hidden, letters)

    def forward(self, tokens, state):
        out, state = self.lstm(self.embedding(tokens), state)
        return self.head(out), state


def main(epochs, length):
    torch.manual_seed(0)
    data = text(length).view(8, -1)  # eight readers, each at its own place
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(epochs):
        state, total, count = None, 0.0, 0
        for at in range(0, data.size(1) - 1, 32):
            window = data[:, at : at + 33]
            if state is not None:
                state = tuple(s.detach() for s in state)
            logits, state = model(window[:, :-1], state)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), window[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            total, count = total + loss.item(), count + 1
        print(f"epoch {epoch:2d}  bits per letter {total / count / 0.6931472:.5f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few steps, for tests")
    main(*(3, 2048) if parser.parse_args().short else (20, 16384))
