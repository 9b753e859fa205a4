"""`with device(...)` and set_default_device(): where tensors are made when nobody says."""

import copy
import io
import pickle
import threading

import pytest

import retrograd as torch

META, CPU = torch.device("meta"), torch.device("cpu")


@pytest.fixture(autouse=True)
def _default():
    yield
    torch.set_default_device(None)
    assert torch.get_default_device() == torch.ones(1).device == CPU


FACTORIES = {
    "arange": lambda: torch.arange(3),
    "as_tensor": lambda: torch.as_tensor([1.0]),
    "as_tensor of a tensor": lambda: torch.as_tensor(torch.ones(1, device="cpu")),
    "asarray": lambda: torch.asarray([1.0]),
    "asarray of a tensor": lambda: torch.asarray(torch.ones(1, device="cpu")),
    "empty": lambda: torch.empty(2),
    "empty_strided": lambda: torch.empty_strided((2,), (1,)),
    "eye": lambda: torch.eye(2),
    "full": lambda: torch.full((2,), 1.0),
    "linspace": lambda: torch.linspace(0, 1, 3),
    "logspace": lambda: torch.logspace(0, 1, 3),
    "ones": lambda: torch.ones(2),
    "ones, device=None": lambda: torch.ones(2, device=None),
    "rand": lambda: torch.rand(2),
    "randint": lambda: torch.randint(0, 3, (2,)),
    "randn": lambda: torch.randn(2),
    "randperm": lambda: torch.randperm(3),
    "scalar_tensor": lambda: torch.scalar_tensor(1.0),
    "tensor": lambda: torch.tensor([1.0], requires_grad=True),
    "tensor of a complex number": lambda: torch.tensor(1j),
    "tril_indices": lambda: torch.tril_indices(2, 2),
    "zeros": lambda: torch.zeros(2),
    "Linear": lambda: torch.nn.Linear(2, 2).weight,
    "Embedding": lambda: torch.nn.Embedding(2, 2).weight,
    "Parameter": lambda: torch.nn.Parameter(torch.ones(2)),
}


@pytest.mark.parametrize("make", FACTORIES.values(), ids=FACTORIES)
def test_what_follows(make):
    assert make().device == CPU
    with torch.device("meta"):
        assert make().device == META
        with torch.device("cpu"):
            assert make().device == CPU
        assert make().device == META
    assert make().device == CPU
    torch.set_default_device("meta")
    assert make().device == META
    with torch.device("cpu"):
        assert make().device == CPU


x = torch.tensor([[3.0, 1.0], [1.0, 2.0]])
OTHERS = {
    "ones on the CPU": lambda: torch.ones(2, device="cpu"),
    "zeros_like": lambda: torch.zeros_like(x),
    "rand_like": lambda: torch.rand_like(x, device=None),
    "new_zeros": lambda: x.new_zeros(2),
    "an op": lambda: x + 1,
    "Tensor": lambda: torch.Tensor([1.0]),
    "normal": lambda: torch.normal(0.0, 1.0, (2,)),
    "frombuffer": lambda: torch.frombuffer(bytearray(8), dtype=torch.float32),
    "load": lambda: torch.load(io.BytesIO(SAVED)),
    "pickle": lambda: pickle.loads(pickle.dumps(x)),
    "deepcopy": lambda: copy.deepcopy(x),
    "get_rng_state": lambda: torch.get_rng_state(),
    "matrix_rank": lambda: torch.linalg.matrix_rank(x),
    "lstsq": lambda: torch.linalg.lstsq(x, x)[0],
    "linalg.vander": lambda: torch.linalg.vander(x),
    "householder_product": lambda: torch.linalg.householder_product(x, torch.ones(1, device="cpu")),
    "matrix_power": lambda: torch.linalg.matrix_power(x, 3),
    "quantile": lambda: torch.quantile(x, 0.5),
    "a list as index": lambda: x[[0, 1]],
    "a loss": lambda: torch.nn.functional.multilabel_margin_loss(x, torch.tensor([[0, 1], [1, -1]], device="cpu")),
    "a gradient": lambda: torch.func.grad(lambda t: t.prod())(x),
    "a checkpoint": lambda: torch.utils.checkpoint.checkpoint(torch.sin, x.clone().requires_grad_(), use_reentrant=True),
}
buffer = io.BytesIO()
torch.save(x, buffer)
SAVED = buffer.getvalue()


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS)
def test_what_does_not(make):
    with torch.device("meta"):
        assert make().device == CPU


def test_the_block_gives_the_device():
    with torch.device("meta") as device:
        assert device == META == torch.get_default_device()
        with device:
            assert torch.ones(1).device == META
        assert torch.ones(1).device == META
    assert torch.get_default_device() == CPU


def test_a_block_left_by_an_exception():
    with pytest.raises(ZeroDivisionError), torch.device("meta"):
        1 / 0
    assert torch.ones(1).device == CPU


def test_threads_have_their_own():
    seen = []
    torch.set_default_device("meta")
    with torch.device("meta"):
        thread = threading.Thread(target=lambda: seen.append((torch.ones(1).device, torch.get_default_device())))
        thread.start()
        thread.join()
    assert seen == [(CPU, CPU)]


def test_the_default_is_below_the_blocks():
    with torch.device("meta"):
        torch.set_default_device("cpu")
        assert torch.ones(1).device == META
    assert torch.ones(1).device == CPU
    with torch.device("cpu"):
        torch.set_default_device("meta")
        assert torch.ones(1).device == CPU
    assert torch.ones(1).device == META
    with torch.device("cpu"):
        torch.set_default_device(None)
        torch.set_default_device("meta")
        torch.set_default_device("meta")
    assert torch.overrides._get_current_function_mode_stack()[0].device == META
    torch.set_default_device("cpu")
    assert not torch.overrides._get_current_function_mode_stack()  # the CPU costs nothing


def test_beside_other_modes():
    seen = []

    class Log(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append((kwargs or {}).get("device"))
            return func(*args, **(kwargs or {}))

    with Log(), torch.device("meta"), Log():
        made = torch.ones(1)
    assert seen == [None, META]
    assert made.device == META


def test_what_cannot_be():
    with pytest.raises(AssertionError, match="not compiled with CUDA"):
        torch.set_default_device("cuda")
    with pytest.raises(AssertionError, match="not compiled with CUDA"), torch.device("cuda"):
        pass
    with pytest.raises(RuntimeError, match="Expected one of cpu"):
        torch.set_default_device("nonsense")
    with pytest.raises(RuntimeError, match="not the innermost"):
        META.__exit__(None, None, None)
    with META, pytest.raises(RuntimeError, match="not the innermost"):
        CPU.__exit__(None, None, None)


def test_conversions_heed_the_device():
    for convert in (torch.as_tensor, torch.asarray):
        assert convert(x, device="meta").device == META
        assert convert(x, device="cpu") is x
        assert convert([1.0], device="meta").device == META
    with pytest.raises(ValueError, match="can't alias tensor from device 'cpu' to 'meta'"):
        torch.asarray(x, device="meta", copy=False)
