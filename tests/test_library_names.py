"""Names that libraries written for PyTorch reach when they are imported and used, from a list of those of 64 of them: each is there under the alias."""

import os
import pathlib
import subprocess
import sys

import pytest

import retrograd

NAMES = pathlib.Path(__file__).with_name("library_names.txt")

PROGRAM = """
import importlib, sys
import torch

def find(name):
    found, path = torch, "torch"
    for part in name.split("."):
        path += "." + part
        if not hasattr(found, part):
            importlib.import_module(path)
        found = getattr(found, part)

for name in open(sys.argv[1]).read().split():
    try:
        find(name)
    except (AttributeError, ImportError) as error:
        print(name, "-", error)
"""


def test_names_that_libraries_reach(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(retrograd.__file__))}
    command = [sys.executable, "-m", "retrograd", "run", "program.py", str(NAMES)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


REFUSED = {
    "onnx": lambda torch: torch.onnx.export(torch.nn.Linear(1, 1), torch.ones(1), "x.onnx"),
    "package": lambda torch: torch.package.PackageExporter("x"),
    "quantization": lambda torch: torch.ao.quantization.quantize_dynamic(torch.nn.Linear(1, 1)),
    "sharded models": lambda torch: torch.distributed.fsdp.FullyShardedDataParallel(torch.nn.Linear(1, 1)),
    "fully_shard": lambda torch: torch.distributed.fsdp.fully_shard(torch.nn.Linear(1, 1)),
    "tensors across processes": lambda torch: torch.distributed.tensor.distribute_tensor(torch.ones(1)),
    "DTensor": lambda torch: torch.distributed.tensor.DTensor.from_local(torch.ones(1)),
    "calls of processes": lambda torch: torch.distributed.rpc.init_rpc("a"),
    "files of processes": lambda torch: torch.distributed.checkpoint.save({}),
    "two processes": lambda torch: torch.distributed.init_process_group("gloo", rank=0, world_size=2, store=torch.distributed.HashStore()),
    "two devices": lambda torch: torch.distributed.init_device_mesh("cpu", (2,)),
    "another process": lambda torch: torch.distributed.init_process_group("gloo", rank=1, world_size=2, init_method="tcp://localhost:1"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_done_is_refused_in_words(what):
    with pytest.raises(NotImplementedError, match="retrograd|torch\\.save") as refusal:
        REFUSED[what](retrograd)
    assert len(str(refusal.value)) > 40 and not retrograd.distributed.is_initialized()


def test_hub_loads_from_folders(tmp_path):
    (tmp_path / "parts.py").write_text("from retrograd import nn\n\ndef make(n):\n    return nn.Linear(n, 1)\n")
    (tmp_path / "hubconf.py").write_text(
        "dependencies = ['retrograd']\nimport parts\n\ndef small(n=2, **options):\n    'A small model.'\n    return parts.make(n)\n\n_hidden = small\n"
    )
    (tmp_path / "empty").mkdir()
    hub = retrograd.hub
    assert hub.load(str(tmp_path), "small", 3, source="local").in_features == 3
    assert "small" in hub.list(str(tmp_path), source="local") and "_hidden" not in hub.list(str(tmp_path), source="local")
    assert hub.help(str(tmp_path), "small", source="local") == "A small model."
    assert str(tmp_path) not in sys.path
    with pytest.raises(RuntimeError, match="Cannot find callable large in hubconf"):
        hub.load(str(tmp_path), "large", source="local")
    with pytest.raises(FileNotFoundError, match="hubconf.py"):
        hub.load(str(tmp_path / "empty"), "small", source="local")
    with pytest.raises(ValueError, match="Unknown source"):
        hub.load(str(tmp_path), "small", source="elsewhere")


def test_hub_fetches_files(tmp_path):
    import hashlib

    state = {"w": retrograd.ones(2)}
    retrograd.save(state, tmp_path / "weights.pt")
    digest = hashlib.sha256((tmp_path / "weights.pt").read_bytes()).hexdigest()
    (tmp_path / "weights.pt").rename(tmp_path / f"model-{digest[:8]}.pt")
    url = (tmp_path / f"model-{digest[:8]}.pt").as_uri()
    found = retrograd.hub.load_state_dict_from_url(url, model_dir=str(tmp_path / "kept"), check_hash=True, progress=False)
    assert found["w"].tolist() == [1.0, 1.0] and os.listdir(tmp_path / "kept") == [f"model-{digest[:8]}.pt"]
    (tmp_path / "model-00000000.pt").write_bytes(b"other")
    with pytest.raises(RuntimeError, match="invalid hash value"):
        retrograd.hub.load_state_dict_from_url((tmp_path / "model-00000000.pt").as_uri(), model_dir=str(tmp_path / "kept"), check_hash=True)
    assert len(os.listdir(tmp_path / "kept")) == 1


def test_hub_folders(tmp_path, monkeypatch):
    monkeypatch.setattr(retrograd.hub, "_hub_dir", None)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    assert retrograd.hub.get_dir() == str(tmp_path / "hub")
    retrograd.hub.set_dir(tmp_path / "other")
    assert retrograd.hub.get_dir() == str(tmp_path / "other")
    assert retrograd.hub.HASH_REGEX.search("resnet-1a2b3c4d.pth")[1] == "1a2b3c4d"


def test_an_optimizer_without_its_init_can_step():
    class Own(retrograd.optim.Optimizer):
        def __init__(self, params):
            self.param_groups = [{"params": list(params)}]

        def step(self):
            return 5

    assert Own([retrograd.ones(1)]).step() == 5


def test_older_orders_take_numbers_that_are_tensors():
    a, b, two = retrograd.arange(3.0), retrograd.ones(3), retrograd.tensor(2.0)
    with pytest.warns(UserWarning, match="is deprecated"):
        assert retrograd.add(a, two, b).tolist() == [2.0, 3.0, 4.0] == a.clone().add_(two, b).tolist() == a.addcmul(two, b, b).tolist()
    with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
        retrograd.add(a, b, b)


def test_limits_of_pythons_types_and_indices_that_are_ranges():
    assert retrograd.finfo(float).bits == 64 == retrograd.finfo(complex).bits == retrograd.iinfo(int).bits
    x = retrograd.arange(6.0).reshape(2, 3)
    assert (
        x[:, range(1, 3)].tolist() == [[1.0, 2.0], [4.0, 5.0]]
        and x[range(2), range(2)].tolist() == [0.0, 4.0]
        and x[range(0)].shape == (0, 3)
    )
    x[range(1)] = 9.0
    assert x.tolist() == [[9.0, 9.0, 9.0], [3.0, 4.0, 5.0]]


def test_types_in_annotations():
    from retrograd import types

    assert isinstance(1.5, types.Number) and types._TensorOrTensors and not isinstance("a", types.Number)


def test_overloads_that_are_no_op_here():
    """Libraries key tables by overloads of PyTorch's; those that stand for no op here are objects of their own, and refuse to be called."""
    alias = retrograd.ops.aten.alias.default
    assert alias is retrograd.ops.aten.alias.default and alias != retrograd.ops.aten.mm.default and "aten.alias" in repr(alias)
    with pytest.raises(NotImplementedError, match=r"aten.alias.default is no op of its own here"):
        alias(retrograd.ones(1))
    with pytest.raises(AttributeError):
        _ = retrograd.ops.aten.no_such_op
    with pytest.raises(AttributeError):
        _ = retrograd.ops.aten.alias.other


def test_members_of_a_saved_file(tmp_path):
    path = str(tmp_path / "x.pt")
    retrograd.save({"a": retrograd.arange(3.0)}, path)
    reader = retrograd.PyTorchFileReader(path)
    assert {"data.pkl", "data/0"} <= set(reader.get_all_records()) and reader.has_record("data/0") and not reader.has_record("data/1")
    assert reader.get_storage_from_record("data/0", 3, retrograd.float32).tolist() == [0.0, 1.0, 2.0]
    assert reader.get_record("data.pkl")[:1] == b"\x80"


def test_arguments_of_module_to():
    parse = retrograd._C._nn._parse_to
    assert parse("cpu", retrograd.float64, True) == (retrograd.device("cpu"), retrograd.float64, True, None)
    assert parse(retrograd.ones(1, dtype=retrograd.float16)) == (retrograd.device("cpu"), retrograd.float16, False, None)
