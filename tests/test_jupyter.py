"""A notebook whose `import torch` gives retrograd: what its cells show, and how they fail."""

import json
import os
import re
import site
import venv

import pytest

import retrograd
from retrograd.cli import shim

nbclient = pytest.importorskip("nbclient", reason="needs nbclient and ipykernel, which run notebooks")
nbformat = pytest.importorskip("nbformat", reason="needs nbformat, which nbclient brings")
pytest.importorskip("ipykernel", reason="needs ipykernel, which runs the cells")

SOURCE = os.path.dirname(os.path.dirname(retrograd.__file__))

CELLS = {
    "names": "import torch\nfrom torch import nn\nimport torch.nn.functional as F\ntorch.manual_seed(0)\nprint(torch.__name__)",
    "tensor": "x = torch.arange(6.).reshape(2, 3)\nx",
    "dict": "{'x': x[0], 'shape': x.shape}",
    "model": "model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))\nmodel",
    "train": (
        "optimizer = torch.optim.SGD(model.parameters(), 0.1)\nlosses = []\nfor _ in range(20):\n    loss = F.mse_loss(model(x), x.sum(1, keepdim=True))\n"
        "    optimizer.zero_grad(); loss.backward(); optimizer.step(); losses.append(loss.item())\nassert losses[-1] < losses[0]\nloss"
    ),
    "class": "nn.Linear",
    "shapes": "def forward(batch):\n    return model(batch)\nforward(torch.ones(2, 5))",
    "name": "torch.zerros",
    "import": "from torch.nn import Liner",
    "twice": "y = (x.clone().requires_grad_() ** 2).sum()\ny.backward()\ny.backward()",
    "workers": (
        "from torch.utils.data import DataLoader, Dataset\nclass Data(Dataset):\n    def __len__(self): return 3\n    def __getitem__(self, i):\n"
        "        if i == 2: raise ValueError('a bad sample')\n        return x[0]\nfor batch in DataLoader(Data(), num_workers=1):\n    print(batch.shape)"
    ),
    "help": "info = get_ipython().object_inspect\n[info(name)['found'] and bool(info(name)['docstring']) for name in ('torch.relu', 'x.sum', 'nn.Linear', 'F.mse_loss')]",
    "source": "'def forward' in get_ipython().object_inspect('nn.Linear', detail_level=1)['source']",
    "complete": "from IPython.core.completer import provisionalcompleter\nwith provisionalcompleter():\n"
    "    print(*[{c.text for c in get_ipython().Completer.completions(t, len(t))} >= {w} for t, w in (('torch.zer', 'zeros'), ('nn.Line', 'Linear'), ('x.requires_gr', 'requires_grad_'))])",
    "reload": "%load_ext autoreload\n%autoreload 2\nimport torch as again\nagain is torch",
    "after": "float(x.sum())",
}


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebook")
    venv.create(folder / "environment", with_pip=False, symlinks=True)
    python = str(folder / "environment" / "bin" / "python")
    (packages,) = (folder / "environment" / "lib").glob("python*/site-packages")
    (packages / "paths.pth").write_text("\n".join([SOURCE, *site.getsitepackages()]) + "\n")
    assert shim.main(["install", "--target", str(packages)]) == 0  # before all others on the path, so also where they have a PyTorch
    spec = folder / "kernels" / "shimmed"
    spec.mkdir(parents=True)
    command = [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "shimmed", "language": "python"}))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS.values()])
    before = {name: os.environ.get(name) for name in ("JUPYTER_PATH", "PYTHONPATH")}
    os.environ["JUPYTER_PATH"] = str(folder)
    os.environ.pop("PYTHONPATH", None)
    try:
        nbclient.NotebookClient(
            notebook, timeout=300, allow_errors=True, kernel_name="shimmed", resources={"metadata": {"path": str(folder)}}
        ).execute()
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
    return dict(zip(CELLS, notebook.cells, strict=True))


def shown(cell):
    """What stands below a cell, without colours."""
    parts = []
    for output in cell.outputs:
        if output.output_type == "stream":
            parts.append(output.text)
        elif output.output_type == "error":
            parts.append("\n".join(output.traceback))
        else:
            parts.append(output.data["text/plain"])
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(parts)).strip()


def test_values_are_shown_as_pytorch_shows_them(cells):
    assert shown(cells["names"]) == "torch"
    assert shown(cells["tensor"]) == "tensor([[0., 1., 2.],\n        [3., 4., 5.]])"
    assert shown(cells["dict"]) == "{'x': tensor([0., 1., 2.]), 'shape': torch.Size([2, 3])}"
    assert shown(cells["model"]).splitlines()[1] == "  (0): Linear(in_features=3, out_features=4, bias=True)"
    assert shown(cells["train"]).startswith("tensor(") and shown(cells["train"]).endswith("grad_fn=<MseLossBackward0>)")
    assert shown(cells["class"]) == "torch.nn.modules.linear.Linear"
    assert shown(cells["after"]) == "15.0"


def test_errors_open_at_the_cell_and_say_what_happened(cells):
    text = shown(cells["shapes"])
    assert "----> 3 forward(torch.ones(2, 5))" in text and "----> 2     return model(batch)" in text
    assert "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x5 and 3x4)" in text
    assert "----> 1 torch.zerros" in shown(cells["name"]) and "has no attribute 'zerros'. Near it: torch.zeros" in shown(cells["name"])
    assert "cannot import name 'Liner' from 'torch.nn'" in shown(cells["import"]) and "Near it: torch.nn.Linear" in shown(cells["import"])
    assert "Trying to backward through the graph a second time" in shown(cells["twice"]) and "----> 3 y.backward()" in shown(cells["twice"])
    assert shown(cells["workers"]).count("torch.Size([1, 3])") == 2
    assert "Caught ValueError in DataLoader worker process 0." in shown(cells["workers"]) and "ValueError: a bad sample" in shown(
        cells["workers"]
    )


def test_help_completion_and_reload_find_what_is_there(cells):
    assert shown(cells["help"]) == "[True, True, True, True]"
    assert shown(cells["source"]) == shown(cells["reload"]) == "True"
    assert shown(cells["complete"]) == "True True True"
