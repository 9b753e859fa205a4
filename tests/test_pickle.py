"""Pickling, copying and saving of tensors and of the small objects around them."""

import copy
import io
import pickle

import pytest

import retrograd as torch

DTYPES = ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64", "bool"]
PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)


def through_pickle(value):
    return pickle.loads(pickle.dumps(value))


def through_save(value):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file)


every_way = pytest.mark.parametrize("way", [through_pickle, through_save, copy.deepcopy])


# -- values -------------------------------------------------------------------


@every_way
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(way, dtype):
    t = torch.tensor([[0, 1, 1], [1, 0, 1]]).to(getattr(torch, dtype))
    c = way(t)
    assert type(c) is torch.Tensor and c.dtype == t.dtype
    assert torch.equal(c, t)
    assert c.data_ptr() != t.data_ptr()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_protocols(protocol):
    t = torch.tensor([1.5, float("inf"), -0.0])
    assert pickle.loads(pickle.dumps(t, protocol)).tolist() == [1.5, float("inf"), -0.0]


@every_way
@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.tensor(3.5),
        lambda: torch.empty(0),
        lambda: torch.empty(0, 3),
        lambda: torch.ones(2, 3, 4, 5, 6, 7),
        lambda: torch.arange(6.0).reshape(2, 3).t(),
        lambda: torch.arange(10.0)[2::3],
        lambda: torch.ones(1).expand(4),
    ],
)
def test_geometry(way, make):
    t = make()
    c = way(t)
    assert c.shape == t.shape and c.stride() == t.stride()
    assert torch.equal(c, t)


@pytest.mark.parametrize("way", [through_save, copy.deepcopy])
def test_shared_storage_stays_shared(way):
    base = torch.arange(6.0)
    a, b, again = way([base, base[2:4], base])
    assert a is again
    b.zero_()
    assert a.tolist() == [0.0, 1.0, 0.0, 0.0, 4.0, 5.0]
    assert base.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


@every_way
def test_nested_containers(way):
    value = {"w": torch.ones(2), "more": [torch.zeros(1), (1, "text", None)]}
    c = way(value)
    assert c["w"].tolist() == [1.0, 1.0] and c["more"][1] == (1, "text", None)


# -- autograd -----------------------------------------------------------------


@every_way
def test_leaf_requires_grad(way):
    c = way(torch.ones(2, requires_grad=True))
    assert c.requires_grad and c.is_leaf and c.grad is None
    (c * 2).sum().backward()
    assert c.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("way", [through_pickle, through_save])
def test_history_is_left_behind(way):
    y = torch.ones(2, requires_grad=True) * 3
    c = way(y)
    assert c.requires_grad and c.is_leaf and c.grad_fn is None
    assert c.tolist() == [3.0, 3.0]


@every_way
def test_parameter(way):
    p = torch.nn.Parameter(torch.ones(2), requires_grad=False)
    c = way(p)
    assert type(c) is torch.nn.Parameter and not c.requires_grad
    c = way(torch.nn.Parameter(torch.ones(2)))
    assert c.requires_grad and c.is_leaf


@pytest.mark.parametrize("way", [through_pickle, copy.deepcopy])
def test_attributes(way):
    t = torch.ones(2)
    t.note = {"a": 1}
    assert way(t).note == {"a": 1}


# -- copy.copy ----------------------------------------------------------------


def test_shallow_copy_shares_memory():
    t = torch.ones(2)
    c = copy.copy(t)
    assert c is not t and c.data_ptr() == t.data_ptr()
    c.add_(1)
    assert t.tolist() == [2.0, 2.0]


def test_deepcopy_memo():
    t = torch.ones(2)
    memo = {}
    assert copy.deepcopy(t, memo) is copy.deepcopy(t, memo)


# -- small objects ------------------------------------------------------------


@pytest.mark.parametrize("way", [through_pickle, copy.deepcopy, copy.copy])
def test_dtype_is_a_singleton(way):
    for name in DTYPES:
        assert way(getattr(torch, name)) is getattr(torch, name)


@pytest.mark.parametrize("way", [through_pickle, copy.deepcopy])
def test_size_and_device(way):
    size, device = torch.Size([2, 3]), torch.device("cuda", 1)
    assert way(size) == size and type(way(size)) is torch.Size
    assert way(device) == device and type(way(device)) is torch.device


# -- files --------------------------------------------------------------------


def test_save_to_a_path(tmp_path):
    path = tmp_path / "weights.pt"
    torch.save({"w": torch.arange(3), "lr": 0.1}, path)
    loaded = torch.load(path)
    assert loaded["w"].tolist() == [0, 1, 2] and loaded["lr"] == 0.1
    assert torch.load(str(path), map_location="cpu")["w"].device == torch.device("cpu")


class Foreign:
    pass


def test_load_runs_no_foreign_code_by_default(tmp_path):
    path = tmp_path / "foreign.pt"
    torch.save(Foreign(), path)
    with pytest.raises(pickle.UnpicklingError):
        torch.load(path)
    assert isinstance(torch.load(path, weights_only=False), Foreign)


def test_load_of_nonsense(tmp_path):
    path = tmp_path / "nonsense.pt"
    path.write_bytes(b"this is no checkpoint")
    with pytest.raises((pickle.UnpicklingError, RuntimeError, IndexError)):
        torch.load(path)
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "nowhere.pt")


# -- what subclasses and results carry --------------------------------------------


class Slotted(torch.Tensor):
    __slots__ = ("mark",)


class Stateful(torch.Tensor):
    def __getstate__(self):
        return {"kept": self.kept + 1}

    def __setstate__(self, state):
        self.kept = state["kept"]


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, through_pickle, lambda t: through_any_save(t)])
def test_slots_and_states_of_subclasses(way):
    slotted = torch.ones(2).as_subclass(Slotted)
    slotted.mark, slotted.plain = [1], 2
    made = way(slotted)
    assert type(made) is Slotted and made.mark == [1] and made.plain == 2
    stateful = torch.ones(2).as_subclass(Stateful)
    stateful.kept = 1
    assert way(stateful).kept == 2


def through_any_save(value):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


@pytest.mark.parametrize("way", [copy.deepcopy, through_pickle, through_any_save])
@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.ones(2, 2).max(1),
        lambda: torch.linalg.qr(torch.eye(2)),
        lambda: torch.topk(torch.arange(3.0), 2),
        lambda: torch.linalg.slogdet(torch.eye(2)),
    ],
)
def test_named_results(way, make):
    result = make()
    made = way(result)
    assert type(made) is type(result) and repr(made) == repr(result)


def test_named_results_in_a_fresh_process():
    import subprocess
    import sys

    data = pickle.dumps(torch.ones(2, 2).max(1))
    program = f"import pickle; r = pickle.loads({data!r}); print(r.values.tolist(), type(r).__name__)"
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[1.0, 1.0] max"
    with pytest.raises(AttributeError, match="no function of retrograd"):
        torch.return_types.nonsense


def test_errors():
    error = through_pickle(torch.linalg.LinAlgError("singular"))
    assert type(error) is torch.linalg.LinAlgError and str(error) == "singular"


def test_named_results_of_functions_written_in_python():
    a = torch.eye(2) + 1
    with_names = {
        "linalg_lstsq": torch.linalg.lstsq(a, a),
        "histogram": torch.histogram(a, 2),
        "histogramdd": torch.histogramdd(a, [2, 2]),
        "linalg_ldl_factor": torch.linalg.ldl_factor(a),
    }
    for name, result in with_names.items():
        assert type(result) is getattr(torch.return_types, name) and name in dir(torch.return_types)
        assert repr(result).startswith(f"torch.return_types.{name}(\n{result._fields[0]}=tensor(")
        again = pickle.loads(pickle.dumps(result))
        assert type(again) is type(result) and torch.equal(again[0], result[0])
