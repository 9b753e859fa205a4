"""Tensors that processes share, and processes that run one function each."""

import os
import pickle
import signal

import pytest

import retrograd as torch
import retrograd.multiprocessing as mp


def _child(inbox, outbox, counter, model):
    counter += 1
    with torch.no_grad():
        model.weight.fill_(3)
    x = inbox.get(timeout=20)
    x.mul_(2)
    outbox.put(x.sum())
    outbox.put(torch.ones(3, requires_grad=True))
    outbox.put(torch.nn.Parameter(torch.zeros(2)))
    inbox.get(timeout=20)  # until what was sent has been taken


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_writes_are_seen_by_the_other_process(method):
    context = mp.get_context(method)
    counter = torch.zeros(4).share_memory_()
    model = torch.nn.Linear(2, 2).share_memory()
    inbox, outbox = context.Queue(), context.Queue()
    process = context.Process(target=_child, args=(inbox, outbox, counter, model))
    process.start()
    x = torch.arange(5.0).share_memory_()
    inbox.put(x)
    assert outbox.get(timeout=30) == 20
    leaf, parameter = outbox.get(timeout=30), outbox.get(timeout=30)
    inbox.put(None)
    process.join(30)
    assert process.exitcode == 0
    assert leaf.requires_grad and leaf.tolist() == [1, 1, 1] and type(parameter) is torch.nn.Parameter
    assert counter.tolist() == [1, 1, 1, 1] and x.tolist() == [0, 2, 4, 6, 8] and model.weight.tolist() == [[3, 3], [3, 3]]


def test_what_is_shared():
    base = torch.arange(6.0)
    view = base.view(2, 3)
    view.share_memory_()
    view[0, 0] = 7
    assert base.is_shared() and base[0] == 7
    base = torch.arange(6.0)
    rows = base[:2], base[2:]
    with pytest.raises(RuntimeError, match="2 other tensors lie in the same memory"):
        base.share_memory_()
    assert rows[0].tolist() == [0, 1]
    shared = torch.arange(6.0).share_memory_()
    assert shared.is_shared() and shared[2:].is_shared() and shared.untyped_storage().is_shared() and not torch.ones(2).is_shared()
    assert shared.share_memory_() is shared and shared.tolist() == [0, 1, 2, 3, 4, 5]
    assert not shared.clone().is_shared()
    parameter = torch.nn.Parameter(torch.ones(2)).share_memory_()
    assert type(parameter) is torch.nn.Parameter and parameter.requires_grad and parameter.is_shared()
    (parameter * 2).sum().backward()
    assert parameter.grad.tolist() == [2, 2]
    assert torch.empty(0, 3).share_memory_().shape == (0, 3)
    with pytest.raises(RuntimeError, match="a tensor with a history"):
        (parameter * 2).share_memory_()


def _identity(x):
    return x


def test_pools():
    with mp.Pool(1) as pool:
        assert [t.item() for t in pool.map(torch.sum, [torch.ones(3), torch.zeros(2)])] == [3, 0]
        with pytest.raises(Exception, match="Cowardly refusing"):
            pool.map(_identity, [torch.ones(2, requires_grad=True) * 2])


def test_ordinary_pickles_are_as_ever():
    shared = torch.ones(2).share_memory_()
    copy = pickle.loads(pickle.dumps(shared))
    assert copy.tolist() == [1, 1] and not copy.is_shared()


def _set(i, t):
    t[i] = i + 1


def _fail(i):
    if i == 1:
        raise ValueError("no")


def _exit(i):
    os._exit(4)


def _die(i):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_spawn(method):
    t = torch.zeros(3).share_memory_()
    assert mp.start_processes(_set, (t,), nprocs=3, start_method=method) is None
    assert t.tolist() == [1, 2, 3]
    with pytest.raises(
        mp.ProcessRaisedException, match="-- Process 1 terminated with the following error:\nTraceback(.|\n)*ValueError: no"
    ) as caught:
        mp.start_processes(_fail, nprocs=2, start_method=method)
    assert caught.value.error_index == 1


def test_how_processes_end():
    with pytest.raises(mp.ProcessExitedException, match="process 0 terminated with exit code 4") as caught:
        mp.spawn(_exit)
    assert caught.value.exit_code == 4
    with pytest.raises(mp.ProcessExitedException, match="process 0 terminated with signal SIGKILL"):
        mp.spawn(_die)
    together = mp.spawn(_fail, nprocs=1, join=False)
    assert len(together.pids()) == 1
    while not together.join():
        pass


def test_strategies():
    assert mp.get_sharing_strategy() == "file_descriptor" and mp.get_all_sharing_strategies() == {"file_descriptor", "file_system"}
    mp.set_sharing_strategy("file_system")
    assert mp.get_sharing_strategy() == "file_system"
    mp.set_sharing_strategy("file_descriptor")
    with pytest.raises(AssertionError, match="invalid sharing strategy 'x'"):
        mp.set_sharing_strategy("x")
