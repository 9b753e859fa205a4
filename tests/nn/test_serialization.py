"""save and load: files both libraries read, whatever either has written."""

import importlib
import io
import pathlib
import pickle
import struct
import zipfile
from collections import OrderedDict

import pytest

import retrograd

FILES = pathlib.Path(__file__).with_name("files")


def contents(torch):
    base = torch.arange(10.0)
    return OrderedDict(
        base=base,
        strided=base[2:8:2],
        transposed=base.reshape(2, 5).t(),
        parameter=torch.nn.Parameter(torch.ones(2, 3)),
        frozen=torch.nn.Parameter(torch.ones(2), requires_grad=False),
        half=torch.ones(3, dtype=torch.float16),
        brain=torch.ones(3, dtype=torch.bfloat16),
        flags=torch.tensor([True, False]),
        empty=torch.empty(0, 3),
        number=torch.tensor(2.5, dtype=torch.float64),
        expanded=torch.ones(1).expand(3),
        computed=torch.ones(2, requires_grad=True) * 3,
        leaf=torch.ones(2, requires_grad=True),
        small=[torch.float16, torch.Size([1, 2]), torch.device("cpu")],
        plain=[1, 2.5, "x", None, True, (1, 2), {3}, b"ab", 2**70, bytearray(b"xx"), 1 + 2j],
    )


def describe(value):
    if isinstance(value, (list, dict)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return [(key, describe(item)) for key, item in items]
    if hasattr(value, "storage_offset"):
        kind = type(value).__name__
        return (kind, str(value.dtype), tuple(value.shape), value.stride(), value.storage_offset(), value.requires_grad, value.tolist())
    return repr(value)


def through(value, save, load, **options):
    file = io.BytesIO()
    save(value, file, **options)
    file.seek(0)
    return load(file)


# -- exchange -------------------------------------------------------------------

directions = pytest.mark.parametrize(
    ("writer", "reader"),
    [
        pytest.param("retrograd", "torch", marks=pytest.mark.needs_torch),
        pytest.param("torch", "retrograd", marks=pytest.mark.needs_torch),
        ("retrograd", "retrograd"),
    ],
)


@directions
@pytest.mark.parametrize("new", [True, False], ids=["zip", "legacy"])
@pytest.mark.parametrize("weights_only", [True, False])
def test_exchange(writer, reader, new, weights_only):
    writer, reader = importlib.import_module(writer), importlib.import_module(reader)
    value = contents(writer)
    loaded = through(value, writer.save, lambda f: reader.load(f, weights_only=weights_only), _use_new_zipfile_serialization=new)
    assert describe(loaded) == describe(value)
    loaded["strided"].fill_(-1.0)
    assert loaded["base"].tolist() == [0.0, 1.0, -1.0, 3.0, -1.0, 5.0, -1.0, 7.0, 8.0, 9.0]


@directions
def test_exchange_modules(writer, reader):
    writer, reader = importlib.import_module(writer), importlib.import_module(reader)
    writer.manual_seed(0)
    model = writer.nn.Sequential(
        writer.nn.Linear(2, 3), writer.nn.LayerNorm(3), writer.nn.GELU(), writer.nn.ModuleList([writer.nn.Tanh()])[0]
    )
    loaded = through(model, writer.save, lambda f: reader.load(f, weights_only=False))
    assert repr(loaded) == repr(model)
    assert loaded(reader.ones(1, 2)).tolist()[0] == pytest.approx(model(writer.ones(1, 2)).tolist()[0], rel=1e-5)
    calls = []
    loaded[0].register_forward_hook(lambda *a: calls.append(1))
    loaded(reader.ones(1, 2))
    assert calls == [1]


@directions
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_exchange_training(writer, reader, kind):
    """Training goes on in the other library where it stopped in the first."""
    writer, reader = importlib.import_module(writer), importlib.import_module(reader)

    def setup(torch):
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 1).double()
        options = {"momentum": 0.9} if kind == "SGD" else {"amsgrad": True}
        return model, getattr(torch.optim, kind)(model.parameters(), lr=0.1, **options)

    def train(torch, model, optimizer, steps):
        for _ in range(steps):
            optimizer.zero_grad()
            (model(torch.arange(6.0, dtype=torch.float64).reshape(2, 3)) ** 2).mean().backward()
            optimizer.step()

    model, optimizer = setup(writer)
    train(writer, model, optimizer, 3)
    state = through({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, writer.save, reader.load)
    train(writer, model, optimizer, 3)
    other, other_optimizer = setup(reader)
    other.load_state_dict(state["model"])
    other_optimizer.load_state_dict(state["optimizer"])
    train(reader, other, other_optimizer, 3)
    assert other.weight.tolist()[0] == pytest.approx(model.weight.tolist()[0], rel=1e-12)


# -- files that PyTorch wrote -----------------------------------------------------


@pytest.mark.parametrize("name", ["zip.pt", "legacy.pt"])
@pytest.mark.parametrize("weights_only", [True, False])
def test_stored_files(name, weights_only):
    loaded = retrograd.load(FILES / name, weights_only=weights_only)
    assert loaded["base"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    loaded["base"].zero_()
    assert loaded["view"].tolist() == [0.0, 0.0] and loaded["transposed"].shape == (3, 2)
    assert type(loaded["parameter"]) is retrograd.nn.Parameter and loaded["computed"].is_leaf and loaded["computed"].requires_grad
    names = ["bool", "uint8", "int8", "int16", "int32", "int64"]
    assert [t.dtype for t in loaded["dtypes"]] == [getattr(retrograd, n) for n in names]
    assert [t.tolist() for t in loaded["floats"]] == [[1.5, 1.5]] * 4
    assert loaded["plain"] == [1, 2.5, "text", None, True, (1, 2), {3}, b"bytes", 2**70]
    assert loaded["small"] == [retrograd.float16, retrograd.Size([1, 2]), retrograd.device("cpu")]
    layer = retrograd.nn.Linear(2, 1)
    layer.load_state_dict(loaded["model"])
    optimizer = retrograd.optim.Adam(layer.parameters())
    optimizer.load_state_dict(loaded["optimizer"])
    assert optimizer.state[layer.weight]["step"].item() == 1.0


def test_stored_module():
    with pytest.raises(pickle.UnpicklingError, match=r"GLOBAL torch.nn.modules.container.Sequential was not an allowed global"):
        retrograd.load(FILES / "module.pt")
    model = retrograd.load(FILES / "module.pt", weights_only=False)
    assert repr(model).splitlines()[1] == "  (0): Linear(in_features=2, out_features=2, bias=True)"
    assert model(retrograd.ones(1, 2)).shape == (1, 2)


# -- the format -------------------------------------------------------------------


def test_layout(tmp_path):
    path = tmp_path / "weights.pt"
    retrograd.save(contents(retrograd), path)
    with zipfile.ZipFile(path) as archive, open(path, "rb") as file:
        names = archive.namelist()
        assert names[0] == "weights/data.pkl" and archive.read("weights/version") == b"3\n" and "weights/byteorder" in names
        for info in archive.infolist():
            assert info.compress_type == zipfile.ZIP_STORED
            file.seek(info.header_offset)
            name_length, extra_length = struct.unpack("<HH", file.read(30)[26:])
            assert (info.header_offset + 30 + name_length + extra_length) % 64 == 0


def test_names_inside_are_pytorchs():
    file = io.BytesIO()
    retrograd.save({"w": retrograd.nn.Parameter(retrograd.ones(1)), "d": retrograd.float32, "m": retrograd.nn.ReLU()}, file)
    with zipfile.ZipFile(file) as archive:
        data = archive.read("archive/data.pkl")
    assert b"ctorch._utils\n_rebuild_tensor_v2\n" in data and b"ctorch\nFloatStorage\n" in data
    assert b"ctorch.nn.modules.activation\nReLU\n" in data and b"retrograd" not in data


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_protocols(protocol):
    loaded = through(contents(retrograd), retrograd.save, retrograd.load, pickle_protocol=protocol)
    assert describe(loaded) == describe(contents(retrograd))


def test_whole_storage_is_saved(torch):
    small = through(torch.arange(1000.0)[:1], torch.save, torch.load)
    assert small.as_strided((1000,), (1,)).sum().item() == 499500.0


def test_streams_that_only_write():
    class Pipe:
        def __init__(self):
            self.data = b""

        def write(self, data):
            self.data += bytes(data)
            return len(data)

        def flush(self):
            pass

    pipe = Pipe()
    retrograd.save({"a": retrograd.arange(3)}, pipe)
    assert retrograd.load(io.BytesIO(pipe.data))["a"].tolist() == [0, 1, 2]


# -- load's arguments ---------------------------------------------------------------


@pytest.mark.parametrize(
    "where",
    [None, "cpu", {"cuda:0": "cpu"}, lambda storage, location: storage, lambda storage, location: None],
    ids=["None", "a name", "a map", "a function", "a function that declines"],
)
def test_map_location(torch, where):
    loaded = through(torch.ones(2), torch.save, lambda f: torch.load(f, map_location=where))
    assert loaded.tolist() == [1.0, 1.0] and loaded.device.type == "cpu"
    assert through(torch.ones(2), torch.save, lambda f: torch.load(f, map_location=torch.device("meta"))).is_meta


def test_cuda_tensors_need_a_place():
    file = io.BytesIO()
    retrograd.save(retrograd.ones(2), file)
    moved = io.BytesIO()
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(moved, "w") as out:
        for name in archive.namelist():
            out.writestr(name, archive.read(name).replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0"))
    moved.seek(0)
    with pytest.raises(RuntimeError, match=r"Attempting to deserialize object on a CUDA device but torch.cuda.is_available"):
        retrograd.load(moved)
    moved.seek(0)
    assert retrograd.load(moved, map_location="cpu").tolist() == [1.0, 1.0]


def test_mmap(torch, tmp_path):
    path = tmp_path / "a.pt"
    torch.save(contents(torch), path)
    loaded = torch.load(path, mmap=True)
    assert describe(loaded) == describe(contents(torch))
    loaded["base"].add_(1.0)
    assert torch.load(path)["base"].tolist()[0] == 0.0
    with pytest.raises(ValueError, match="f must be a file path in order to use the mmap argument"):
        torch.load(io.BytesIO(path.read_bytes()), mmap=True)


# -- what is refused ------------------------------------------------------------------


class Custom:
    def __init__(self, value=1):
        self.value = value


class Runs:
    def __reduce__(self):
        return (eval, ("1 / 0",))


def test_safe_globals(torch):
    serialization = torch.serialization
    file = io.BytesIO()
    torch.save({"c": Custom(5)}, file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match=r"Unsupported global: GLOBAL .*Custom was not an allowed global by default"):
        torch.load(file)
    file.seek(0)
    with serialization.safe_globals([Custom]):
        assert torch.load(file)["c"].value == 5
        assert Custom in serialization.get_safe_globals()
    assert Custom not in serialization.get_safe_globals()
    serialization.add_safe_globals([Custom])
    file.seek(0)
    assert torch.load(file)["c"].value == 5
    before = [entry for entry in serialization.get_safe_globals() if entry is not Custom]
    serialization.clear_safe_globals()
    assert serialization.get_safe_globals() == []
    serialization.add_safe_globals(before)
    file.seek(0)
    assert torch.load(file, weights_only=False)["c"].value == 5


def test_code_is_not_run(torch, tmp_path):
    path = tmp_path / "evil.pt"
    torch.save(Runs(), path)
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        torch.load(path)
    with pytest.raises(ZeroDivisionError):
        torch.load(path, weights_only=False)
    assert torch.serialization.get_unsafe_globals_in_checkpoint(path) == ["builtins.eval"]


def _archive(pickled):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
        archive.writestr("archive/version", "3\n")
    file.seek(0)
    return file


@pytest.mark.parametrize(
    "pickled",
    [
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n}X\x08\x00\x00\x00__code__K\x01sb.",  # sets the state of a function
        b"\x80\x02ctorch\nTensor\n}X\x03\x00\x00\x00sumK\x01sb.",  # sets the state of a class
        b"\x80\x02(S'ls'\nios\nsystem\n.",  # INST
        b"\x80\x02X\x01\x00\x00\x00a)R.",  # calls a string
        b"\x80\x02cos\nsystem\n.",
        b"\x80\x02U\x01aQ.",  # a persistent id that is no storage
    ],
)
def test_crafted_pickles(pickled):
    with pytest.raises(pickle.UnpicklingError):
        retrograd.load(_archive(pickled))


def test_broken_files(torch, tmp_path):
    path = tmp_path / "a.pt"
    torch.save(contents(torch), path)
    data = path.read_bytes()
    path.write_bytes(data[:700])
    with pytest.raises(RuntimeError, match="PytorchStreamReader failed reading zip archive"):
        torch.load(path)
    path.write_bytes(b"")
    with pytest.raises(EOFError):
        torch.load(path)


def test_damaged_storage_is_noticed(tmp_path):
    path = tmp_path / "a.pt"
    retrograd.save(retrograd.full((1000,), 1.0), path)
    data = bytearray(path.read_bytes())
    at = data.index(b"\x00\x00\x80\x3f" * 8)
    data[at + 2] ^= 1
    path.write_bytes(data)
    with pytest.raises((RuntimeError, zipfile.BadZipFile)):
        retrograd.load(path)


def test_refused_arguments(torch):
    with pytest.raises(AttributeError, match="expected 'f' to be string, path, or a file-like object"):
        torch.save(1, 3)
    with pytest.raises(RuntimeError, match="Parent directory /no/where does not exist"):
        torch.save(1, "/no/where/a.pt")
    with pytest.raises(AttributeError, match=r"You can only torch.load from a file that is seekable"):
        torch.load(3)
    with pytest.raises(RuntimeError, match="Can not safely load weights when explicit pickle_module is specified"):
        torch.load("x", weights_only=True, pickle_module=pickle)


def test_same_memory_as_two_dtypes(torch):
    a = torch.ones(2)
    with pytest.raises(RuntimeError, match="Cannot save multiple tensors or storages that view the same data as different types"):
        torch.save([a, a.view(torch.int32)], io.BytesIO())


def test_unpicklable_object_leaves_the_file(tmp_path):
    path = tmp_path / "a.pt"
    retrograd.save({"a": 1}, path)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        retrograd.save(lambda: 1, path)
    assert retrograd.load(path) == {"a": 1}


# -- subclasses and attributes ----------------------------------------------------


class Tagged(retrograd.Tensor):
    pass


def test_subclasses_and_attributes():
    t = retrograd.ones(2).as_subclass(Tagged)
    t.tag = "x"
    p = retrograd.nn.Parameter(retrograd.ones(1))
    p.note = [1]
    plain = retrograd.zeros(2)
    plain.note = {"a": 1}
    t2, p2, plain2 = through([t, p, plain], retrograd.save, lambda f: retrograd.load(f, weights_only=False))
    assert type(t2) is Tagged and t2.tag == "x" and type(p2) is retrograd.nn.Parameter and p2.note == [1]
    assert type(plain2) is retrograd.Tensor and plain2.note == {"a": 1}


# -- files that are not whole ------------------------------------------------------


def saved(**options):
    file = io.BytesIO()
    retrograd.save({"w": retrograd.arange(6.0), "b": retrograd.ones(3)}, file, **options)
    return file.getvalue()


@pytest.mark.parametrize("new", [True, False], ids=["zip", "legacy"])
@pytest.mark.parametrize("weights_only", [True, False])
def test_cut_off_files(new, weights_only, tmp_path):
    """Every length: one kind of error, which is also what PyTorch raises, and never an empty message."""
    data = saved(_use_new_zipfile_serialization=new)
    for length in (*range(64), *range(64, len(data), 37), len(data) - 1):
        with pytest.raises((retrograd.serialization.CorruptFileError, pickle.UnpicklingError)) as caught:
            retrograd.load(io.BytesIO(data[:length]), weights_only=weights_only)
        assert len(str(caught.value)) > 20
    path = tmp_path / "cut.pt"
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises((RuntimeError, pickle.UnpicklingError)):
        retrograd.load(path, mmap=new or None)


@pytest.mark.parametrize("new", [True, False], ids=["zip", "legacy"])
@pytest.mark.parametrize("weights_only", [True, False])
def test_altered_files(new, weights_only):
    data = saved(_use_new_zipfile_serialization=new)
    kinds = set()
    for position in range(0, len(data), 3):
        altered = data[:position] + bytes([data[position] ^ 0xFF]) + data[position + 1 :]
        try:
            retrograd.load(io.BytesIO(altered), weights_only=weights_only)
        except (RuntimeError, pickle.UnpicklingError) as error:  # everything else is a failure of this test
            kinds.add(type(error) if len(str(error)) > 20 else "no words")
    assert retrograd.serialization.CorruptFileError in kinds and "no words" not in kinds


def test_errors_of_the_users_code_are_left_alone():
    file = io.BytesIO()
    retrograd.save(Fragile(), file)
    file.seek(0)
    with pytest.raises(ValueError, match="^mine$"):
        retrograd.load(file, weights_only=False)


class Fragile:
    def __init__(self):
        self.x = 1

    def __setstate__(self, state):
        raise ValueError("mine")


# -- what weights_only allows ---------------------------------------------------------


class Outer:
    class Inner:
        def __init__(self):
            self.x = 1


def allowed(entries, value, **options):
    with retrograd.serialization.safe_globals(entries):
        return through(value, retrograd.save, retrograd.load, **options)


def test_nested_classes():
    assert allowed([Outer.Inner], Outer.Inner(), pickle_protocol=4).x == 1
    assert allowed([Outer, Outer.Inner, getattr], Outer.Inner()).x == 1
    with pytest.raises(pickle.UnpicklingError, match="builtins.getattr"):
        allowed([Outer.Inner], Outer.Inner())
    with pytest.raises(pickle.UnpicklingError, match="add_safe_globals"):
        allowed([Outer, getattr], Outer.Inner())


def test_modules_that_nothing_allows():
    import os
    import sys

    for function in (os.system, sys.exit, os.getcwd):
        with pytest.raises(pickle.UnpicklingError, match="is blocked"):
            allowed([function], function)


def test_environment(monkeypatch):
    load = lambda **options: through(Outer(), retrograd.save, lambda f: retrograd.load(f, **options))
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    assert type(load()) is Outer
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        load(weights_only=True)
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "yes")
    with pytest.raises(RuntimeError, match="Only one of"):
        load()
    monkeypatch.delenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        load(weights_only=False)


def test_map_location_gets_storages():
    seen = []

    def place(storage, location):
        seen.append((type(storage).__name__, storage.nbytes(), location))
        return storage.clone() if location == "cpu" else None

    loaded = through({"w": retrograd.arange(3.0)}, retrograd.save, lambda f: retrograd.load(f, map_location=place))
    assert loaded["w"].tolist() == [0.0, 1.0, 2.0] and seen == [("UntypedStorage", 12, "cpu")]


def test_plain_pickles_of_pytorch(tmp_path):
    """Made by pickle.dumps() of PyTorch's tensors; a program that `retrograd run` runs reads them."""
    import subprocess
    import sys

    script = tmp_path / "read.py"
    script.write_text(
        "import pickle, torch\n"
        f"d = pickle.load(open({str(FILES / 'plain_pickle.pkl')!r}, 'rb'))\n"
        "print(d['w'].tolist(), type(d['p']).__name__, d['p'].requires_grad, d['l'].dtype, torch.__name__)\n"
    )
    out = subprocess.run([sys.executable, "-m", "retrograd", "run", str(script)], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]] Parameter True torch.int64 torch"
