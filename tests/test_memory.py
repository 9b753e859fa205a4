"""The allocator's counters are exact for the memory of tensors, and torch.cuda answers as PyTorch without CUDA does."""

import gc
import importlib
import re

import pytest

import retrograd as torch

DTYPES = [torch.bool, torch.uint8, torch.int16, torch.float16, torch.bfloat16, torch.float32, torch.int64, torch.float64]


@pytest.fixture(autouse=True)
def _no_garbage():
    gc.collect()


def held():
    return torch.memory_allocated()


# ---- bytes of tensors ----


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (3, 5), (0, 4), (17, 31), (240,), (241,), (1000, 1000)], ids=str)
def test_a_tensor_counts_its_bytes(shape, dtype):
    before, blocks = held(), torch.memory_stats()["live_blocks"]
    x = torch.empty(shape, dtype=dtype)
    assert held() - before == x.numel() * x.element_size() == x.nbytes
    assert torch.memory_stats()["live_blocks"] - blocks == 1
    del x
    assert held() == before and torch.memory_stats()["live_blocks"] == blocks


def test_views_share_their_bytes():
    before = held()
    x = torch.ones(10, 10)
    views = [x[1], x.t(), x.reshape(100), x.detach(), x.expand(3, 10, 10), x.data]
    assert held() - before == 400
    del x
    assert held() - before == 400  # any of them keeps all of it
    del views
    assert held() == before


def test_memory_of_others_and_of_nobody_is_not_counted():
    numpy = pytest.importorskip("numpy")
    before = held()
    array = numpy.ones(1000)
    shared, nothing = torch.from_numpy(array), torch.empty(1000, device="meta")
    assert held() == before and shared.nbytes == nothing.nbytes * 2 == 8000


def test_resizing_counts_the_new_size():
    before = held()
    x = torch.ones(10)
    x.resize_(1000)
    assert held() - before == 4000
    x.resize_(5)  # smaller: the storage stays
    assert held() - before == x.untyped_storage().nbytes()


def test_the_peak_is_the_most_at_once():
    x = torch.ones(1000)
    torch.reset_peak_memory_stats()
    before = held()
    assert torch.max_memory_allocated() == before
    y = (x + 1) * 2  # x + 1 is alive while its double is made
    assert torch.max_memory_allocated() - before == 8000 and held() - before == 4000
    del y
    assert torch.max_memory_allocated() - before == 8000
    torch.reset_peak_memory_stats()
    assert torch.max_memory_allocated() == held() == before


def test_a_graph_holds_what_it_saved():
    x = torch.ones(1000, requires_grad=True)
    before = held()
    y = x.exp().sin()  # exp saves its result, sin its input: the same tensor
    assert held() - before == 8000
    y.backward(torch.ones(1000))
    assert held() - before == 8000  # the result of exp went, x.grad came
    del y
    x.grad = None
    assert held() == before


def test_an_optimizer_holds_two_tensors_and_a_count():
    p = torch.nn.Parameter(torch.ones(1000))
    p.grad = torch.ones(1000)
    optimizer = torch.optim.Adam([p])
    before = held()
    for _ in range(3):
        optimizer.step()
    assert held() - before == 2 * 4000 + 4


def test_running_totals():
    before = torch.memory_stats()
    for _ in range(10):
        torch.empty(100)
    after = torch.memory_stats()
    assert after["total_allocated"] - before["total_allocated"] == after["total_freed"] - before["total_freed"] == 4000
    assert after["total_blocks"] - before["total_blocks"] == 10
    assert after["total_allocated"] - after["total_freed"] == after["allocated"]


# ---- what the allocator keeps ----


def test_freed_memory_is_kept_and_given_back():
    torch.empty_cache()
    reserved = torch.memory_reserved()
    x = torch.empty(1 << 20)
    assert torch.memory_reserved() - reserved == 4 << 20
    del x
    assert torch.memory_reserved() - reserved == 4 << 20 == torch.memory_stats()["cached"]
    y = torch.empty(1 << 20)
    assert torch.memory_reserved() - reserved == 4 << 20  # the same block again
    del y
    torch.reset_peak_memory_stats()
    torch.empty_cache()
    assert torch.memory_reserved() == reserved and torch.memory_stats()["cached"] == 0
    assert torch.max_memory_reserved() - reserved == 4 << 20


def test_reserved_covers_allocated():
    kept = [torch.empty(n) for n in (1, 10, 100, 1000, 10_000, 100_000)]
    assert torch.memory_reserved() >= torch.memory_allocated() >= sum(t.nbytes for t in kept)
    assert torch.max_memory_reserved() >= torch.memory_reserved()


# ---- the summary ----


def numbers(text, name):
    (line,) = (line for line in text.splitlines() if line.strip().startswith(name))
    return [int(cell.replace(",", "")) for cell in re.findall(r"[\d,]+", line)]


def test_summary_has_the_counters():
    kept = torch.empty(1234, 567)
    stats, text = torch.memory_stats(), torch.memory_summary()
    assert numbers(text, "held by tensors") == [stats[k] for k in ("allocated", "peak_allocated", "total_allocated", "total_freed")]
    assert numbers(text, "from the system") == [stats["reserved"], stats["peak_reserved"]]
    assert numbers(text, "kept for later") == [stats["cached"]]
    assert numbers(text, "storages") == [stats["live_blocks"], stats["total_blocks"], stats["total_blocks"] - stats["live_blocks"]]
    assert numbers(text, "tensors")[0] >= 1 and numbers(text, "graph nodes")[0] >= 0
    assert f"{stats['allocated'] / 2**20:.2f} MiB" in text and kept.nbytes == 1234 * 567 * 4
    assert all(len(line) <= 100 and line == line.rstrip() for line in text.splitlines())


def test_summary_abbreviated():
    text = torch.memory_summary(device="cpu", abbreviated=True)
    assert "held by tensors" in text and "kept for later" not in text and "graph nodes" not in text
    assert len(text.splitlines()) < len(torch.memory_summary().splitlines())


def test_summary_of_little():
    from retrograd._memory import _readable

    assert [_readable(n) for n in (0, 1023, 1536, 5 << 20, 3 << 30, 2 << 40, 5000 << 40)] == [
        "0 B", "1023 B", "1.50 KiB", "5.00 MiB", "3.00 GiB", "2.00 TiB", "5000.00 TiB",
    ]  # fmt: skip


# ---- torch.cuda without CUDA ----

ANSWERS = [
    (False, ["is_available()", "is_initialized()", "is_bf16_supported()", "is_tf32_supported()", "has_magma"]),
    (True, ["has_half"]),
    (0, ["device_count()", "memory_allocated()", "memory_allocated(0)", "max_memory_allocated()", "memory_reserved()"]),
    (0, ["max_memory_reserved()", "max_memory_reserved('cuda:1')"]),
    (None, ["empty_cache()", "manual_seed(1)", "manual_seed_all(1)", "seed()", "seed_all()"]),
    (None, ["set_device(-1)", "device(-1).__enter__()", "stream(None).__enter__()"]),
    ("", ["get_gencode_flags()"]),
    ((), ["default_generators"]),
    ([], ["get_arch_list()", "get_rng_state_all()", "list(memory_stats())", "list(host_memory_stats())"]),
    ({}, ["memory_stats_as_nested_dict()"]),
]
REFUSALS = [
    "init()", "current_device()", "synchronize()", "synchronize('cpu')", "get_device_name()", "get_device_properties(0)",
    "get_device_capability()", "initial_seed()", "mem_get_info()", "set_per_process_memory_fraction(0.5)", "current_stream()",
    "default_stream()", "get_rng_state()", "ipc_collect()", "can_device_access_peer(0, 1)",
]  # fmt: skip
ACCIDENTS = [
    "memory_summary()", "memory_summary(abbreviated=True)", "reset_peak_memory_stats()", "reset_accumulated_memory_stats()",
    "memory_snapshot()", "set_device(0)",
]  # fmt: skip


def call(engine, text):
    cuda = importlib.import_module(f"{engine}.cuda")
    return eval(text, {name: getattr(cuda, name) for name in dir(cuda)})


@pytest.fixture(params=["retrograd", "torch"])
def engine(request):
    if request.param == "torch" and pytest.importorskip("torch").cuda.is_available():
        pytest.skip("PyTorch has CUDA here")
    return request.param


@pytest.mark.parametrize(("answer", "text"), [(answer, text) for answer, texts in ANSWERS for text in texts])
def test_cuda_answers(engine, answer, text):
    found = call(engine, text)
    assert found == answer and type(found) is type(answer)


@pytest.mark.parametrize("text", REFUSALS)
def test_cuda_refuses(engine, text):
    with pytest.raises(AssertionError, match="^Torch not compiled with CUDA enabled"):
        call(engine, text)


@pytest.mark.parametrize("text", ACCIDENTS)
def test_cuda_refuses_where_pytorch_trips(engine, text):
    with pytest.raises(AssertionError if engine == "retrograd" else (AttributeError, KeyError)):
        call(engine, text)


MOVES = [
    "x.cuda()", "x.cuda('cuda:0')", "x.cuda(device='cuda')", "x.to('cuda')", "x.to(device='cuda:0')", "torch.ones(1, device='cuda')",
    "torch.tensor([1.0], device='cuda')", "torch.as_tensor([1.0], device='cuda')", "torch.zeros_like(x, device='cuda')",
    "x.new_ones(2, device='cuda')", "torch.nn.Linear(2, 2).cuda()", "torch.nn.Linear(2, 2).to('cuda')",
    "torch.nn.Linear(2, 2, device='cuda')", "torch.randn(2, device='cuda')", "torch.nn.Parameter(x).cuda()",
]  # fmt: skip
INDICES = ["x.to(0)", "x.to(device=0)", "x.cuda(0)", "torch.ones(1, device=0)", "torch.nn.Linear(2, 2).cuda(0)"]
WRONG = ["x.cuda('cpu')", "x.cuda(torch.device('cpu'))"]


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        *((text, AssertionError, "Torch not compiled with CUDA enabled") for text in MOVES),
        *((text, RuntimeError, "Cannot access accelerator device when none is available") for text in INDICES),
        *((text, RuntimeError, "Invalid device, must be cuda device") for text in WRONG),
    ],
)
def test_nothing_moves_to_cuda(engine, text, error, words):
    module = importlib.import_module(engine)
    with pytest.raises(error, match="^" + words):
        eval(text, {"torch": module, "x": module.ones(2)})


def test_cuda_devices_and_streams(engine):
    with pytest.raises(ValueError, match="^Expected a cuda device, but got: cpu$"):
        call(engine, "set_device('cpu')")
    with pytest.raises(RuntimeError, match="^PyTorch was compiled without CUDA support"):
        call(engine, "device(0).__enter__()")
    with pytest.raises(RuntimeError, match="^torch.cuda.Stream requires CUDA support"):
        call(engine, "Stream()")
    with pytest.raises(RuntimeError):
        call(engine, "Event()")
    module = importlib.import_module(engine)
    with module.cuda.device_of(module.ones(1)), module.cuda.stream(None):
        assert module.ones(1).device.type == "cpu"
    assert issubclass(module.cuda.OutOfMemoryError, RuntimeError)
