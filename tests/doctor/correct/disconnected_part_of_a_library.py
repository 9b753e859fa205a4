"""A model of an installed library computes a summary beside its states; the program trains on the states alone."""

import importlib
import pathlib
import sys
import tempfile

import retrograd as torch
from retrograd import nn

LIBRARY = """
import retrograd as torch
from retrograd import nn


class Summary(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.dense = nn.Linear(size, size)

    def forward(self, states):
        return torch.tanh(self.dense(states[:, 0]))


class Encoder(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(size, size) for _ in range(2)])
        self.summary = Summary(size)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return {"states": x, "summary": self.summary(x)}
"""

with tempfile.TemporaryDirectory() as folder:
    packages = pathlib.Path(folder) / "site-packages"
    packages.mkdir()
    (packages / "an_encoder_library.py").write_text(LIBRARY)
    sys.path.insert(0, str(packages))
    library = importlib.import_module("an_encoder_library")
    sys.path.remove(str(packages))

torch.manual_seed(0)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = library.Encoder(8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.encoder(x)["states"].mean(1))


model = Classifier()
optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
x, y = torch.randn(16, 5, 8), torch.randint(0, 3, (16,))
for _ in range(12):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
