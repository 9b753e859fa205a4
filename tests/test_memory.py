"""The allocator's counters are exact for the memory of tensors, and torch.cuda answers as PyTorch without CUDA does."""

import gc
import importlib
import os
import pathlib
import re
import subprocess
import sys
import textwrap
import time

import pytest

import retrograd as torch

DTYPES = [torch.bool, torch.uint8, torch.int16, torch.float16, torch.bfloat16, torch.float32, torch.int64, torch.float64]


# Nothing is kept in builds with sanitizers, and what they keep themselves is theirs.
kept_back = pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="the allocator keeps nothing under sanitizers")


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


@kept_back
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


@kept_back
def test_what_is_not_used_goes_back():
    torch.empty_cache()
    used, unused = torch.empty(1 << 20), torch.empty(5 << 20)
    del used, unused
    assert torch.memory_stats()["cached"] >= 24 << 20
    for _ in range(3):
        torch._C._sweep_cache()
        torch.empty(1 << 20)  # taken from what is kept, and put back
    assert torch.memory_stats()["cached"] == 4 << 20
    for _ in range(3):
        torch._C._sweep_cache()
    assert torch.memory_stats()["cached"] == 0


@kept_back
def test_the_lowest_of_many_blocks_go_back():
    torch.empty_cache()
    xs = [torch.empty(1000) for _ in range(3000)]  # more than one round of the sweep takes
    del xs
    kept = torch.memory_stats()["cached"]
    for _ in range(3):
        torch._C._sweep_cache()
        ys = [torch.empty(1000) for _ in range(100)]
        del ys
    assert torch.memory_stats()["cached"] == kept // 3000 * 100


@kept_back
def test_a_larger_block_serves_a_smaller_tensor():
    torch.empty_cache()
    large = torch.empty(1 << 20)
    del large
    reserved = torch.memory_reserved()
    almost = torch.empty(900_000)
    assert torch.memory_reserved() == reserved
    half = torch.empty(500_000)  # would waste too much
    assert torch.memory_reserved() > reserved
    del almost, half
    torch.empty_cache()


@kept_back
def test_the_limit_of_the_cache():
    default = torch.cache_limit()
    assert 0 < default <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") // 2
    try:
        x = torch.empty(3 << 20)
        torch.set_cache_limit(4 << 20)
        assert torch.cache_limit() == 4 << 20
        del x  # more than the limit
        assert torch.memory_stats()["cached"] <= 4 << 20
        torch.empty_cache()
        xs = [torch.empty(1 << 18) for _ in range(10)]
        del xs
        assert torch.memory_stats()["cached"] == 4 << 20
        torch.set_cache_limit(0)
        assert torch.memory_stats()["cached"] == 0
        torch.empty(1 << 18)
        assert torch.memory_stats()["cached"] == 0
    finally:
        torch.set_cache_limit(None)
    assert torch.cache_limit() == default
    with pytest.raises(TypeError, match="number of bytes or None, but got str"):
        torch.set_cache_limit("1G")
    with pytest.raises(ValueError, match="0 or more"):
        torch.set_cache_limit(-1)


@kept_back
def test_empty_cache_gives_back_small_memory_too():
    torch.empty_cache()
    reserved = torch.memory_reserved()
    xs = [torch.full((100,), float(i)) for i in range(20_000)]
    survivor = xs[10_000]
    full = torch.memory_reserved()
    assert full - reserved > 8 << 20
    del xs
    torch.empty_cache()
    assert torch.memory_reserved() - reserved < 1 << 20
    assert survivor.tolist() == [10_000.0] * 100
    ys = [torch.full((100,), float(i)) for i in range(1000)]
    assert all(y[99].item() == i for i, y in enumerate(ys))


def run(program, **environment):
    """What a program of its own prints, as a list of words."""
    source = str(pathlib.Path(torch.__file__).parents[1])
    path = os.pathsep.join([source, *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": path, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split() + done.stderr.splitlines()


TWENTY = """
    import os, sys, time
    import retrograd as torch

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") >> 20

    def sweepers():
        return sum("sweep" in open(f"/proc/self/task/{t}/comm").read() for t in os.listdir("/proc/self/task"))

    small, medium = torch.ones(4), torch.ones(10_000)
    assert sweepers() == 0  # no thread before there is anything to watch
    start = resident()

    def twenty():
        xs = [torch.ones((1 << 20) * n) for n in range(1, 21)]
        assert resident() - start > 700

    def back():
        return resident() - start < 64
"""


@kept_back
@pytest.mark.parametrize(
    "elsewhere", ["time.sleep(0.1)", "sum(range(100_000))", "small * small", "medium + medium"], ids=["sleep", "python", "small", "medium"]
)
def test_twenty_large_tensors(elsewhere):
    run(
        TWENTY
        + f"""
    twenty()
    assert sweepers() == 1
    end = time.monotonic() + 5
    while time.monotonic() < end and not back():
        {elsewhere}
    assert back(), resident() - start
    """
    )


@kept_back
def test_a_program_that_is_stuck_gets_smaller_too():
    """In a system call without Python, where nobody takes the GIL: seen from outside."""
    program = TWENTY + "\n    twenty()\n    print(start, flush=True)\n    sys.stdin.read()"
    source = str(pathlib.Path(torch.__file__).parents[1])
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    try:
        start = int(child.stdout.readline())
        end = time.monotonic() + 5
        while True:
            pages = int(pathlib.Path(f"/proc/{child.pid}/statm").read_text().split()[1])
            if (pages * os.sysconf("SC_PAGESIZE") >> 20) - start < 64:
                break
            assert time.monotonic() < end, "still large"
            time.sleep(0.1)
    finally:
        child.communicate("")
    assert child.returncode == 0  # the end is not held up


@kept_back
def test_a_forked_child_and_its_parent_give_back():
    words = run(
        TWENTY
        + """
    twenty()
    child = os.fork()
    if child == 0:
        assert sweepers() == 0 and torch.memory_stats()["cached"] > 700 << 20  # what the parent kept is here too
        torch.ones(1 << 20)
        assert sweepers() == 1
    time.sleep(4)
    assert back() and torch.memory_stats()["cached"] == 0, torch.memory_stats()
    print("done", flush=True)
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    """
    )
    assert "".join(words) == "donedone"  # two processes write at their own pace


@kept_back
def test_memory_is_given_back_before_more_is_taken_than_allowed():
    run(
        TWENTY
        + """
    import resource
    with open("/proc/self/statm") as file:
        mapped = int(file.read().split()[0]) * os.sysconf("SC_PAGESIZE")
    resource.setrlimit(resource.RLIMIT_AS, (mapped + (600 << 20), mapped + (600 << 20)))
    for megabytes in (100, 150, 200, 280, 340, 400, 480):
        torch.ones(megabytes << 18)
    """
    )


@pytest.mark.parametrize(
    ("text", "limit"), [("0", 0), ("1000000", 1_000_000), ("512K", 512 << 10), ("3m", 3 << 20), ("1.5G", 3 << 29), ("1T", 1 << 40)]
)
def test_the_limit_in_the_environment(text, limit):
    assert run("import retrograd; print(retrograd.cache_limit())", RETROGRAD_CACHE_LIMIT=text) == [str(limit)]


@pytest.mark.parametrize("text", ["much", "-1", "10X", "1GG", "nan"])
def test_nonsense_in_the_environment(text):
    limit, warning, *_ = run("import retrograd; print(retrograd.cache_limit())", RETROGRAD_CACHE_LIMIT=text)
    assert int(limit) == torch.cache_limit() or os.environ.get("RETROGRAD_CACHE_LIMIT")
    assert "no number of bytes" in warning and text in warning


# ---- what the process may use ----

GIB = 1 << 30
V1 = "35 31 0:32 {root} {point} rw,relatime - cgroup cgroup rw,memory"
V2 = "30 23 0:26 {root} {point} rw,nosuid shared:4 master:1 - cgroup2 cgroup2 rw,nsdelegate"


def machine(folder, mount, group, files):
    """A fake /proc and /sys below `folder`: a mount line, the line of /proc/self/cgroup, limits by path."""
    (folder / "proc/self").mkdir(parents=True)
    other = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n36 31 0:33 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
    (folder / "proc/self/mountinfo").write_text(other + mount + "\n")
    (folder / "proc/self/cgroup").write_text("7:cpu,cpuacct:/elsewhere\n" + group + "\n")
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return torch._C._memory_allowance(str(folder))


@pytest.mark.parametrize(
    ("mount", "group", "files"),
    [
        pytest.param(V2.format(root="/", point="/sys/fs/cgroup"), "0::/", {"sys/fs/cgroup/memory.max": str(GIB)}, id="v2, in a namespace"),
        pytest.param(
            V2.format(root="/", point="/sys/fs/cgroup"),
            "0::/user.slice/job",
            {"sys/fs/cgroup/user.slice/job/memory.max": str(GIB), "sys/fs/cgroup/user.slice/memory.max": "max"},
            id="v2",
        ),
        pytest.param(
            V2.format(root="/", point="/sys/fs/cgroup"),
            "0::/a/b/c",
            {"sys/fs/cgroup/a/b/c/memory.max": "max", "sys/fs/cgroup/a/b/memory.max": str(2 * GIB), "sys/fs/cgroup/a/memory.max": str(GIB)},
            id="v2, nested",
        ),
        pytest.param(
            V2.format(root="/", point="/sys/fs/cgroup"),
            "0::/a",
            {"sys/fs/cgroup/a/memory.max": "max", "sys/fs/cgroup/a/memory.high": str(GIB)},
            id="v2, throttled",
        ),
        pytest.param(
            V2.format(root="/docker/abc", point="/sys/fs/cgroup"),
            "0::/docker/abc/inner",
            {"sys/fs/cgroup/inner/memory.max": str(GIB), "sys/fs/cgroup/memory.max": str(2 * GIB)},
            id="v2, a container without namespace",
        ),
        pytest.param(
            V2.format(root="/docker/abc", point="/sys/fs/cgroup"),
            "0::/docker/abcdef",
            {"sys/fs/cgroup/memory.max": str(GIB)},
            id="v2, another group",
        ),
        pytest.param(V2.format(root="/", point="/sys/fs/cgroup"), "0::/../other", {"sys/fs/cgroup/memory.max": str(GIB)}, id="v2, outside"),
        pytest.param(V2.format(root="/", point="/mnt/with\\040blank"), "0::/", {"mnt/with blank/memory.max": str(GIB)}, id="v2, a blank"),
        pytest.param(
            V1.format(root="/", point="/sys/fs/cgroup/memory"),
            "4:memory:/a/b",
            {
                "sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": str(2**63 - 4096),
                "sys/fs/cgroup/memory/a/memory.limit_in_bytes": str(GIB),
                "sys/fs/cgroup/memory/memory.limit_in_bytes": str(2**63 - 4096),
            },
            id="v1, nested",
        ),
        pytest.param(
            V1.format(root="/docker/abc", point="/sys/fs/cgroup/memory"),
            "4:hugetlb,memory:/docker/abc",
            {
                "sys/fs/cgroup/memory/memory.limit_in_bytes": str(2**63 - 4096),
                "sys/fs/cgroup/memory/memory.stat": f"cache 12\nhierarchical_memory_limit {GIB}\ntotal_cache 12",
            },
            id="v1, limited by a group out of sight",
        ),
    ],
)
def test_limits_of_control_groups(tmp_path, mount, group, files):
    assert machine(tmp_path, mount, group, files) == GIB


@pytest.mark.parametrize(
    ("mount", "group", "files"),
    [
        pytest.param("", "", {}, id="nothing"),
        pytest.param("30 23", "nonsense", {}, id="nonsense"),
        pytest.param(V2.format(root="/", point="/sys/fs/cgroup"), "0::/", {"sys/fs/cgroup/memory.max": "max"}, id="no limit"),
        pytest.param(V2.format(root="/", point="/sys/fs/cgroup"), "0::/a", {"sys/fs/cgroup/a/memory.max": "a lot"}, id="no number"),
        pytest.param(V2.format(root="/", point="/sys/fs/cgroup"), "0::/a", {"sys/fs/cgroup/b/memory.max": "4096"}, id="of others"),
        pytest.param(
            V1.format(root="/", point="/sys/fs/cgroup/memory"),
            "3:cpu:/a",
            {"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "4096"},
            id="another controller",
        ),
    ],
)
def test_no_limits_of_control_groups(tmp_path, mount, group, files):
    assert machine(tmp_path, mount, group, files) == torch._C._memory_allowance(str(tmp_path / "empty")) > GIB


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


@pytest.fixture(params=["retrograd", pytest.param("torch", marks=pytest.mark.needs_torch)])
def engine(request):
    if request.param == "torch" and importlib.import_module("torch").cuda.is_available():
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
