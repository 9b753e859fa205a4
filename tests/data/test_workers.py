"""Worker processes: what they send, how they end, and what is said when they do not end well."""

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import retrograd as torch
from retrograd.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, get_worker_info
from retrograd.utils.data._utils import transport

SOURCE = str(Path(torch.__file__).parent.parent)


class Calls(Dataset):
    """Samples made by a function."""

    def __init__(self, function, length=4):
        self.function, self.length = function, length

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        return self.function(i)


class Numbers(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, i):
        return torch.full((3,), float(i)), get_worker_info().id


def square(i):
    return i * i


def children():
    return [p.pid for p in multiprocessing.active_children()]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_start_methods(method):
    batches = list(DataLoader(Numbers(), batch_size=2, num_workers=2, multiprocessing_context=method))
    assert [b[0][:, 0].tolist() for b in batches] == [[0, 1], [2, 3], [4, 5]]
    assert [b[1].tolist() for b in batches] == [[0, 0], [1, 1], [0, 0]]


def test_workers_end_with_the_epoch_and_stay_if_told():
    loader = DataLoader(Calls(square), num_workers=2)
    it = iter(loader)
    next(it)
    assert len(children()) == 2
    list(it)
    assert not children()
    loader = DataLoader(Calls(square), num_workers=2, persistent_workers=True)
    list(loader)
    before = sorted(children())
    list(loader)
    assert len(before) == 2 and sorted(children()) == before
    del loader
    assert not children()


def test_an_epoch_that_is_left_early_leaves_no_worker():
    for _ in DataLoader(Calls(square, 1000), num_workers=2):
        break
    gc.collect()
    assert not children()


@pytest.mark.parametrize("how", ["os._exit(3)", "os.kill(os.getpid(), 9)"])
def test_a_worker_that_dies(how):
    def sample(i):
        if i == 2:
            exec(how)
        return i

    began = time.monotonic()
    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly \(exit code (3|-9)\)"):
        list(DataLoader(Calls(sample), num_workers=2))
    assert time.monotonic() - began < 20 and not children()


def test_a_worker_that_is_killed_from_outside():
    it = iter(DataLoader(Calls(lambda i: time.sleep(30)), num_workers=1))
    os.kill(children()[0], signal.SIGKILL)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        next(it)


def test_timeout():
    with pytest.raises(RuntimeError, match="DataLoader timed out after 0.3 seconds"):
        list(DataLoader(Calls(lambda i: time.sleep(3)), num_workers=1, timeout=0.3))
    assert not children()


def test_what_cannot_be_pickled_is_an_error_and_not_a_hang():
    with pytest.raises((RuntimeError, AttributeError, TypeError), match="Caught .* in DataLoader worker process 0(.|\n)*lambda"):
        list(DataLoader(Calls(lambda i: lambda: i), batch_size=None, num_workers=1))
    grown = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        list(DataLoader(Calls(lambda i: grown * 2), batch_size=None, num_workers=1))


def test_a_traceback_of_the_worker_is_shown():
    def sample(i):
        raise ValueError("a picture of nothing")

    with pytest.raises(
        ValueError,
        match=r"Caught ValueError in DataLoader worker process 0\.\nOriginal Traceback(.|\n)*in sample(.|\n)*a picture of nothing",
    ):
        list(DataLoader(Calls(sample), num_workers=1))


@pytest.mark.parametrize("size", [1, 1000, transport.SEGMENT // 4, transport.SEGMENT, 300_000])
def test_tensors_of_every_size_can_be_written(size):
    [batch] = DataLoader(Calls(lambda i: torch.arange(size), 1), batch_size=None, num_workers=1)
    batch += 1
    assert torch.equal(batch, torch.arange(size) + 1)


def test_memory_of_batches_is_given_back():
    loader = DataLoader(Calls(lambda i: torch.ones(500_000), 60), batch_size=None, num_workers=1)

    def mapped():
        return sum("memfd:retrograd" in line for line in Path("/proc/self/maps").read_text().splitlines())

    most = 0
    for _ in loader:
        most = max(most, mapped())
    gc.collect()
    assert most <= 4 and mapped() <= 1


def test_layouts_and_parts_of_large_tensors():
    large = torch.arange(1_000_000.0).reshape(1000, 1000)
    image = torch.randn(2, 3, 8, 8).contiguous(memory_format=torch.channels_last)
    sent = [large[:, 3], large.t()[:2], image, torch.nn.Parameter(torch.ones(2)), torch.tensor(3.0), torch.ones(2, 0)]
    received = list(DataLoader(Calls(lambda i: sent[i], len(sent)), batch_size=None, num_workers=1))
    assert all(torch.equal(a, b) for a, b in zip(sent, received, strict=True))
    assert received[2].is_contiguous(memory_format=torch.channels_last)
    assert type(received[3]) is torch.nn.Parameter and received[3].requires_grad
    assert received[0].untyped_storage().nbytes() < 8192


def test_results_as_they_come():
    def sample(i):
        time.sleep(1.0 if i == 0 else 0)
        return i

    assert [int(b) for b in DataLoader(Calls(sample), num_workers=2, in_order=False)] == [1, 3, 0, 2]
    assert [int(b) for b in DataLoader(Calls(sample), num_workers=2)] == [0, 1, 2, 3]


def test_streams_without_order():
    class Stream(IterableDataset):
        def __iter__(self):
            return iter(range(10 * get_worker_info().id, 10 * get_worker_info().id + 4))

    got = [int(b) for b in DataLoader(Stream(), num_workers=3, in_order=False)]
    assert sorted(got) == [0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23]


def test_prefetching_ahead():
    drawn = []

    class Sampler:
        def __iter__(self):
            for i in range(20):
                drawn.append(i)
                yield i

    it = iter(DataLoader(range(20), sampler=Sampler(), num_workers=2, prefetch_factor=3))
    assert len(drawn) == 6
    next(it)
    assert len(drawn) == 7


def run(program, *, send=None, wait=None):
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, "PYTHONPATH": SOURCE},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    if send:
        for line in process.stdout:
            if wait in line:
                break
        os.killpg(process.pid, send) if send == signal.SIGINT else process.send_signal(send)
    out, errors = process.communicate(timeout=60)
    return process.returncode, out, errors


PROGRAM = """
    import os, time
    import retrograd as torch
    from retrograd.utils.data import DataLoader, Dataset
    class Slow(Dataset):
        def __len__(self): return 1000
        def __getitem__(self, i):
            time.sleep(0.05)
            return os.getpid()
    for pid in DataLoader(Slow(), batch_size=None, num_workers=2):
        print("pid", int(pid), flush=True)
"""


def test_interrupt_ends_everything_and_says_so_once():
    code, _, errors = run(PROGRAM, send=signal.SIGINT, wait="pid")
    assert code != 0 and errors.count("KeyboardInterrupt") == 1 and "worker" not in errors.replace("num_workers", "")


def test_workers_end_when_the_main_process_is_killed():
    _, out, _ = run(PROGRAM, send=signal.SIGKILL, wait="pid")
    pids = {int(line.split()[1]) for line in out.splitlines() if line.startswith("pid")}
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_text() for pid in pids):
        assert time.monotonic() < deadline, "a worker lives on"
        time.sleep(0.1)


def test_a_program_may_end_in_the_middle_of_an_epoch():
    code, out, errors = run(PROGRAM.replace('print("pid", int(pid), flush=True)', "raise SystemExit(7)"))
    assert (code, out, errors) == (7, "", "")


def test_rows_of_tensor_datasets_are_had_at_once():
    x = torch.arange(12.0).reshape(6, 2)
    it = iter(DataLoader(TensorDataset(x), batch_size=4))
    [batch] = next(it)
    batch.zero_()
    assert x.sum() == 66  # a copy

    class Own(TensorDataset):
        def __getitem__(self, i):
            return self.tensors[0][i] * 10

    assert next(iter(DataLoader(Own(x), batch_size=2))).tolist() == [[0, 10], [20, 30]]
    with pytest.raises(IndexError):
        list(DataLoader(TensorDataset(x), sampler=[9]))


@pytest.mark.parametrize("workers", [0, 1])
def test_an_error_names_the_samples_it_is_about(workers):
    class Broken(list):
        def __getitem__(self, i):
            if i == 2:
                raise KeyError("no sample 2")
            return super().__getitem__(i)

    def notes(data):
        with pytest.raises(Exception) as caught:
            list(DataLoader(data, 2, num_workers=workers))
        return str(caught.value) + "\n".join(getattr(caught.value, "__notes__", []))

    assert "in dataset[2], a sample of the batch [2, 3]" in notes(Broken([torch.ones(1)] * 4))
    words = notes([{"a": 1, "b": (torch.ones(2), torch.ones(2))}, {"a": 1, "b": (torch.ones(2), torch.ones(3))}])
    assert "stack expects each tensor to be equal size, but got [2] at entry 0 and [3] at entry 1" in words
    assert "in [1] of each sample" in words and "in ['b'] of each sample" in words
    assert "while the samples [0, 1] of the dataset were put together by default_collate" in words


def _nine(x):
    return x + 9


@pytest.mark.parametrize("persistent", [False, True])
def test_data_pipes_in_workers_shuffle_alike_and_share_the_elements(persistent):
    pipes = torch.utils.data.datapipes.iter
    pipe = pipes.IterableWrapper(range(20)).shuffle().sharding_filter().map(_nine)
    loader = DataLoader(pipe, batch_size=None, num_workers=2, shuffle=True, persistent_workers=persistent)
    torch.manual_seed(3)
    rounds = [[int(x) for x in loader] for _ in range(2)]
    assert all(sorted(each) == list(range(9, 29)) for each in rounds) and rounds[0] != rounds[1]
    torch.manual_seed(3)
    again = DataLoader(pipe, batch_size=None, num_workers=2, shuffle=True)
    assert [int(x) for x in again] == rounds[0]
    unshared = pipes.IterableWrapper(range(3)).map(_nine)
    assert sorted(int(x) for x in DataLoader(unshared, batch_size=None, num_workers=2)) == [9, 9, 10, 10, 11, 11]


def test_the_pipes_of_a_pipe():
    from retrograd.utils.data.graph import traverse_dps
    from retrograd.utils.data.graph_settings import apply_shuffle_settings, get_all_graph_pipes

    source = torch.utils.data.datapipes.iter.IterableWrapper(range(3))
    left, right = source.fork(2)
    pipe = left.shuffle().zip(right)
    found = get_all_graph_pipes(traverse_dps(pipe))
    assert {type(each).__name__ for each in found} == {
        "ZipperIterDataPipe",
        "ShufflerIterDataPipe",
        "_ChildDataPipe",
        "IterableWrapperIterDataPipe",
    }
    assert list(apply_shuffle_settings(pipe, False)) == [(0, 0), (1, 1), (2, 2)]
    with pytest.raises(TypeError, match="non-deterministic"), torch.utils.data.guaranteed_datapipes_determinism():
        torch.utils.data.non_deterministic(type("Any", (torch.utils.data.IterDataPipe,), {"__iter__": iter}))()
