"""safetensors.torch, as it is, on our tensors: run by `retrograd run`, where `import torch` is retrograd."""

import subprocess
import sys

import pytest

pytest.importorskip("safetensors")
pytest.importorskip("numpy")  # which safetensors.torch wants

PROGRAM = """
import os
import sys

import torch
from safetensors import safe_open
from safetensors.torch import load, load_file, load_model, save, save_file, save_model

path = os.path.join(sys.argv[1], "a.safetensors")
tensors = {
    "floats": torch.arange(6.0).reshape(2, 3),
    "half": torch.ones(3, dtype=torch.float16),
    "brain": torch.full((2,), 1.5, dtype=torch.bfloat16),
    "double": torch.tensor(2.5, dtype=torch.float64),
    "flags": torch.tensor([True, False]),
    "empty": torch.empty(0, 3),
    "complex": torch.tensor([1 + 2j]),
    "parameter": torch.nn.Parameter(torch.ones(2)),
}
for name in ("uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"):
    tensors[name] = torch.arange(3).to(getattr(torch, name))
for name in ("float8_e4m3fn", "float8_e5m2"):
    tensors[name] = torch.tensor([0.5, 2.0]).to(getattr(torch, name))
numbers = lambda t: (t.float() if t.element_size() == 1 and t.dtype.is_floating_point else t).tolist()
save_file(tensors, path, metadata={"format": "pt"})
for loaded in (load_file(path), load(save(tensors)), load(open(path, "rb").read())):
    assert set(loaded) == set(tensors)
    for name, value in tensors.items():
        assert type(loaded[name]) is torch.Tensor
        assert (loaded[name].dtype, loaded[name].shape) == (value.dtype, value.shape), name
        assert numbers(loaded[name]) == numbers(value), name
    loaded["floats"].fill_(0)  # memory of its own, or a mapping that is
assert load_file(path)["floats"].sum() == 15
with safe_open(path, framework="pt", device="cpu") as file:
    print(len(file.keys()), file.metadata(), file.get_tensor("brain").dtype, file.get_slice("floats")[:, 1:].tolist())


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
        self.b.weight = self.a.weight


model, other = Tied(), Tied()
save_model(model, path)
print(load_model(other, path))
assert torch.equal(other.a.weight, model.a.weight) and other.a.weight is other.b.weight and torch.equal(other.b.bias, model.b.bias)


def refused(function, *arguments):
    try:
        function(*arguments)
    except (RuntimeError, ValueError) as error:
        print(type(error).__name__, " ".join(str(error).split())[:60].strip())


refused(save_file, model.state_dict(), path)
refused(save_file, {"x": torch.arange(6.0).reshape(2, 3).t()}, path)
refused(save_file, {"x": torch.eye(2).to_sparse()}, path)
refused(load_model, torch.nn.Linear(2, 2), path)
"""

OUTPUT = """\
18 {'format': 'pt'} torch.bfloat16 [[1.0, 2.0], [4.0, 5.0]]
(set(), [])
RuntimeError Some tensors share memory, this will lead to duplicate memor
ValueError You are trying to save a non contiguous tensor: `x` which is
ValueError You are trying to save a sparse tensors: `['x']` which this
RuntimeError Error(s) in loading state_dict for Linear: Missing key(s) in
"""


@pytest.mark.parametrize("way", [["-m", "retrograd", "run"], pytest.param([], marks=pytest.mark.needs_torch)], ids=["retrograd", "torch"])
def test_safetensors(way, tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    result = subprocess.run([sys.executable, *way, str(script), str(tmp_path)], capture_output=True, text=True)
    assert result.stdout == OUTPUT, result.stderr
