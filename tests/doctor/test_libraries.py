"""Training loops inside a library: the line that is named is the user's, not the library's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

LIBRARY = '''
class Trainer:
    """A loop as libraries have them, with the mistakes that theirs or a setting of theirs may have."""

    def __init__(self, optimizer, loss=None, zero_grad=True, accumulate=1):
        self.optimizer, self.loss, self.zero_grad, self.accumulate = optimizer, loss, zero_grad, accumulate

    def fit(self, model, data, epochs=1):
        for _ in range(epochs):
            for i, batch in enumerate(data):
                self._step(model, batch, i)

    def _step(self, model, batch, i):
        if self.zero_grad and i % self.accumulate == 0:
            self.optimizer.zero_grad()
        step = getattr(model, "training_step", None)
        loss = step(batch) if step else (self.loss or mean_square)(model(batch[0]), batch[1])
        loss.backward()
        if (i + 1) % self.accumulate == 0:
            self.optimizer.step()


def mean_square(prediction, target):
    return ((prediction - target) ** 2).mean()
'''

START = """
import json, warnings
import retrograd as torch
from retrograd import nn
from fastfit import Trainer

torch.manual_seed(0)
data = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(12)]

def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.01)
"""

END = """
print(json.dumps([(f.code, f.place.file, f.place.line) for f in torch.doctor.findings()]))
"""

# The code, and a program whose `# LINE` is the line to be named.
PROGRAMS = {
    "missing_zero_grad": """
model = nn.Linear(4, 1)
Trainer(sgd(model), zero_grad=False).fit(model, data)  # LINE
""",
    "silent_broadcast_loss": """
model = nn.Linear(4, 1)
Trainer(sgd(model)).fit(model, [(x, y[:, 0]) for x, y in data])  # LINE
""",
    "silent_broadcast_loss in a function of the user's": """
def loss(prediction, target):
    return (prediction - target).abs().mean()  # LINE
model = nn.Linear(4, 1)
Trainer(sgd(model), loss).fit(model, [(x, y[:, 0]) for x, y in data])
""",
    "disconnected_parameter": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.used = nn.Linear(4, 1)
        self.forgotten = nn.Linear(4, 4)  # LINE
    def forward(self, x):
        return self.used(x)
model = Net()
Trainer(sgd(model)).fit(model, data)
""",
    "nan_origin": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)
    def forward(self, x):
        return torch.log(self.layer(x) * 0 - 1)  # LINE
model = Net()
Trainer(sgd(model)).fit(model, data)
""",
    "nan_origin in a late step, in the library": """
model = nn.Linear(4, 1)
late = [(torch.full((8, 4), float("nan") if i == 250 else 1.0), torch.ones(8, 1)) for i in range(300)]
def loss(prediction, target):
    return (prediction.exp() - target).abs().mean()
Trainer(sgd(model), zero_grad=True).fit(model, [(x * 1e30 if i == 250 else x, y) for i, (x, y) in enumerate(data * 25)])  # LINE
""",
    "missing_zero_grad in a late step": """
model = nn.Linear(4, 1)
trainer = Trainer(sgd(model))
trainer.fit(model, data * 25)
trainer.zero_grad = False
trainer.fit(model, data)  # LINE
""",
    "graph_leak": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.losses = nn.Linear(4, 1), []
    def training_step(self, batch):
        loss = (self.layer(batch[0]) - batch[1]).square().mean()  # LINE
        self.losses.append(loss)
        return loss
model = Net()
Trainer(sgd(model)).fit(model, data, epochs=4)
""",
    "mode_confusion": """
model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(), nn.Linear(8, 1))
model.eval()  # LINE
Trainer(sgd(model)).fit(model, data)
""",
    "dtype_cut": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.shift = nn.Linear(4, 3), nn.Linear(4, 1)
    def forward(self, x):
        return self.layer(x).round() + self.shift(x)  # LINE
model = Net()
Trainer(sgd(model), lambda p, t: (p - t.expand(8, 3)).square().mean()).fit(model, data)
""",
    "grad_accumulation_scaling": """
model = nn.Linear(4, 1)
Trainer(sgd(model), accumulate=4).fit(model, data)  # LINE
""",
    "stale_optimizer": """
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)  # LINE
model[2] = nn.Linear(8, 1)
Trainer(optimizer).fit(model, data)
""",
    "dead_gradient": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 8), nn.Linear(8, 1)
    def forward(self, x):
        return self.last(torch.relu(self.first(x) - 100))  # LINE
model = Net()
Trainer(sgd(model)).fit(model, data)
""",
}


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("environment") / "lib" / "site-packages"
    (folder / "fastfit").mkdir(parents=True)
    (folder / "fastfit" / "__init__.py").write_text(LIBRARY)
    return folder


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_line_is_the_users(name: str, packages: Path, tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    source = START + PROGRAMS[name] + END
    program.write_text(source)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(packages), *sys.path])}
    run = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout.splitlines()[-1])
    line = next(i for i, text in enumerate(source.splitlines(), 1) if text.endswith("# LINE"))
    assert [name.split()[0], str(program), line] in found, (found, run.stderr)
    assert {file for _, file, _ in found} == {str(program)}
    assert "fastfit" not in "".join(text for text in run.stderr.splitlines() if text.startswith(str(program)))


@pytest.mark.parametrize("strict", [False, True])
def test_an_error_in_the_loop_names_both_lines(strict: bool, packages: Path, tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    text = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)
    def forward(self, x):
        h = torch.sigmoid(self.layer(x))  # saved
        h += 1  # write
        return h
model = Net()
Trainer(sgd(model)).fit(model, data)
"""
    program.write_text(START + text)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(packages), *sys.path]), "RETROGRAD_STRICT": "1" if strict else "0"}
    run = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=environment)
    lines = {mark: i for i, line in enumerate((START + text).splitlines(), 1) for mark in ("saved", "write") if line.endswith(f"# {mark}")}
    assert run.returncode == 1
    assert f"saved for SigmoidBackward0 at {program}:{lines['saved']}" in run.stderr
    assert f"changed at {program}:{lines['write']}" in run.stderr
