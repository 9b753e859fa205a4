"""What the doctor must not do to a program: keep what it lets go, take its time, lose sight of it in another thread, hang its children."""

from __future__ import annotations

import gc
import os
import threading
import warnings

import pytest

import retrograd as torch
from retrograd import _C, doctor, nn
from retrograd.doctor import _holders
from retrograd.doctor._watch import FREE, OPS, watcher
from retrograd.profiler import profile


@pytest.fixture(autouse=True)
def _new():
    doctor.forget()
    yield
    doctor.forget()


def train(steps: int = 4, zero: bool = True) -> None:
    w = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.01)
    for _ in range(steps):
        if zero:
            optimizer.zero_grad()
        (w**2).sum().backward()
        optimizer.step()


def codes() -> list[str]:
    return [finding.code for finding in doctor.findings()]


def test_a_backward_that_fails_leaves_nothing_behind():
    gc.collect()
    before = _C._live_objects()

    def fail(grad):
        raise ZeroDivisionError

    def run():
        w = torch.ones(3, requires_grad=True)
        y = w * 2
        y.register_hook(fail)
        with pytest.raises(ZeroDivisionError):
            y.sum().backward()

    run()
    gc.collect()
    assert _C._live_objects() == before


def test_a_look_that_ends_in_a_backward_leaves_nothing_behind():
    gc.collect()
    before = _C._live_objects()

    def run():
        y = torch.ones(1, requires_grad=True)
        for _ in range(OPS + 10_000):  # more ops than a look follows
            y = y * 1.0
        y.backward()

    run()
    assert _C._doctor_state()[1] is False
    gc.collect()
    assert _C._live_objects() == before


def test_cycles_are_not_searched_for_holders_at_every_step(monkeypatch):
    searches = []
    search = _holders._search
    monkeypatch.setattr(_holders, "_search", lambda *args: (searches.append(1), search(*args)))
    doctor.strict()
    w = torch.ones(3, requires_grad=True)
    gc.disable()
    try:
        for _ in range(200):
            y = w * 2
            y.me = y
            y.sum().backward()
            w.grad = None
    finally:
        gc.enable()
        doctor.strict(False)
    assert len(searches) < 40


def test_holders_of_one_tensor_each_are_not_searched_at_every_step(monkeypatch):
    searches = []
    search = _holders._search
    monkeypatch.setattr(_holders, "_search", lambda *args: (searches.append(1), search(*args)))
    w = torch.ones(3, requires_grad=True)

    class Run:
        pass

    run = Run()
    doctor.strict()
    try:
        for step in range(100):
            loss = (w * 2).sum()
            loss.backward()
            setattr(run, f"losses{step}", [loss])
            w.grad = None
    finally:
        doctor.strict(False)
    assert 0 < len(searches) < 20


def test_looks_take_a_small_share_of_the_time():
    for name in range(300):  # each backward is at a new place
        namespace = {"torch": torch}
        exec(
            compile("w = torch.ones(3, requires_grad=True)\nfor _ in range(3): (w * 2).sum().backward(); w.grad = None", str(name), "exec"),
            namespace,
        )
    watcher._spent, looks = FREE + 1e6, watcher.looks
    exec(compile("w = torch.ones(3, requires_grad=True)\n(w * 2).sum().backward()", "one more", "exec"), {"torch": torch})
    watcher.close()
    exec(compile("w = torch.ones(3, requires_grad=True)\n(w * 2).sum().backward()", "and one", "exec"), {"torch": torch})
    assert looks > 0 and watcher.looks == looks and not _C._doctor_state()[1]


def test_a_thread_that_ends_in_a_close_look_takes_it_along():
    thread = threading.Thread(target=train, args=(1,))
    thread.start()
    thread.join()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        train(zero=False)
    assert codes() == ["missing_zero_grad"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_of_another_thread_is_watched():
    """The look of the thread that is not there any more is over."""
    started, ends = threading.Event(), threading.Event()

    def work() -> None:
        train(1)
        started.set()
        ends.wait()

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                train(zero=False)
                status = 0 if codes() == ["missing_zero_grad"] else 2
            finally:
                os._exit(status)
    ends.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_profiles_of_two_threads_keep_it_away_until_both_are_done():
    inside, goes_on = threading.Event(), threading.Event()

    def work() -> None:
        with profile():
            inside.set()
            goes_on.wait()

    thread = threading.Thread(target=work)
    with profile():
        thread.start()
        inside.wait()
    assert not doctor.is_on()  # the other one records still
    goes_on.set()
    thread.join()
    assert doctor.is_on()


def test_memory_of_a_look_does_not_count_in_the_peak():
    def peak() -> int:
        doctor.forget()
        layer = nn.Linear(256, 128, bias=False)
        loss = layer(torch.ones(2, 256)).sum()
        torch.reset_peak_memory_stats()
        before = torch.memory_allocated()
        loss.backward()  # after which it sums up parameters that no optimizer has
        return torch.max_memory_allocated() - before

    watched = peak()
    with doctor.off():
        assert watched == peak()


def test_little_of_the_stack_left_is_not_a_failure():
    """Deep in a recursion the doctor looks away, and goes on afterwards."""
    w = torch.ones(2, requires_grad=True)

    def deep(levels: int) -> None:
        try:
            deep(levels + 1)
        except RecursionError:
            (w * 2).sum().backward()
            raise

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RecursionError):
            deep(0)
    assert doctor.is_on()
