"""Backward that is interrupted, runs in several threads at once, or after a fork."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

import retrograd as torch
from retrograd import _C

unix = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and signals")


def chain(x, length):
    for _ in range(length):
        x = x * 1.0
    return x


def interrupt_during(run, seconds=0.01):
    """Calls run() with a KeyboardInterrupt on its way: one, and only while it runs, since anywhere else it would end all tests."""
    running = False

    def ring(*_):
        nonlocal running
        if running:
            running = False
            raise KeyboardInterrupt

    def watched():
        nonlocal running
        running = True
        try:
            run()
        finally:
            running = False

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)  # again and again: a busy machine may be late to start
    try:
        with pytest.raises(KeyboardInterrupt):
            watched()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@unix
def test_interrupt_in_backward_leaves_no_half_gradient():
    x = torch.ones(4, requires_grad=True)
    y = chain(x, 400_000).sum()
    interrupt_during(y.backward)
    assert x.grad is None
    z = (x * 3).sum()
    z.backward()
    assert x.grad.tolist() == [3.0] * 4


@unix
def test_a_retained_graph_survives_an_interrupt():
    x = torch.ones(4, requires_grad=True)
    y = chain(x, 400_000).sum()
    interrupt_during(lambda: y.backward(retain_graph=True))
    assert x.grad is None
    y.backward()
    assert x.grad.tolist() == [1.0] * 4


@unix
def test_an_interrupt_while_recording():
    x = torch.ones(4, requires_grad=True)
    gc.collect()
    before = _C._live_objects()
    interrupt_during(lambda: chain(x, 100_000_000), 0.05)
    gc.collect()
    assert _C._live_objects() == before
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0] * 4


@unix
def test_an_interrupt_in_a_hook():
    x = torch.ones(4, requires_grad=True)
    y = x * 2

    def wait(grad):
        while True:
            pass

    handle = y.register_hook(wait)
    out = (y * y).sum()
    interrupt_during(lambda: out.backward(retain_graph=True))
    handle.remove()
    out.backward()
    assert x.grad.tolist() == [8.0] * 4


def in_threads(count, work):
    errors = []

    def run(i):
        try:
            work(i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors, errors[0]


def test_one_graph_in_many_threads():
    x = torch.full((8,), 2.0, dtype=torch.float64, requires_grad=True)
    y = chain(x * x, 300).sum()
    results = [None] * 8

    def work(i):
        for _ in range(20):
            results[i] = torch.autograd.grad(y, x, retain_graph=True)[0].tolist()

    in_threads(8, work)
    assert results == [[4.0] * 8] * 8
    assert x.grad is None


def test_accumulation_from_many_threads_loses_nothing():
    x = torch.zeros(16, dtype=torch.float64, requires_grad=True)

    def work(i):
        for _ in range(50):
            (chain(x * (i + 1), 20)).sum().backward()

    in_threads(6, work)
    assert x.grad.tolist() == [50.0 * (1 + 2 + 3 + 4 + 5 + 6)] * 16


def test_modes_belong_to_their_thread():
    seen = {}

    def work(i):
        with torch.set_grad_enabled(i % 2 == 0):
            for _ in range(200):
                assert (torch.ones(1, requires_grad=True) * 2).requires_grad == (i % 2 == 0)
        seen[i] = torch.is_grad_enabled()

    in_threads(6, work)
    assert set(seen.values()) == {True}


def run_script(text):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@unix
def test_after_a_fork():
    """A child has none of its parent's worker threads and must not wait for them."""
    out = run_script(
        """
        import os, retrograd as torch
        w = torch.randn(600, 600, requires_grad=True)
        def step():
            w.grad = None
            x = torch.randn(600, 600)
            ((x @ w).tanh() * x).sum().backward()
            return bool(w.grad.isfinite().all())
        assert step()
        kept = (w * w).sum()          # a graph made before the fork
        pid = os.fork()
        if pid == 0:
            ok = step() and step()
            w.grad = None
            kept.backward()
            os._exit(0 if ok and torch.equal(w.grad, 2 * w.detach()) else 1)
        _, status = os.waitpid(pid, 0)
        assert status == 0, status
        assert step()
        print("both fine")
        """
    )
    assert out == "both fine\n"


@unix
def test_fork_from_a_thread_while_another_runs_backward():
    out = run_script(
        """
        import os, threading, warnings, retrograd as torch
        warnings.simplefilter("ignore")
        stop = threading.Event()
        def work():
            w = torch.randn(64, 64, requires_grad=True)
            while not stop.is_set():
                (w @ w).sum().backward()
        t = threading.Thread(target=work); t.start()
        try:
            for _ in range(5):
                pid = os.fork()
                if pid == 0:
                    w = torch.randn(300, 300, requires_grad=True)
                    (w @ w).tanh().sum().backward()
                    os._exit(0 if w.grad is not None else 1)
                assert os.waitpid(pid, 0)[1] == 0
        finally:
            stop.set(); t.join()
        print("done")
        """
    )
    assert out == "done\n"


def test_a_thread_that_ends_in_backward():
    """An exception in one thread's backward leaves the others and the graph alone."""
    x = torch.ones(4, requires_grad=True)
    y = chain(x, 50).sum()

    def failing(grad):
        if threading.current_thread() is not threading.main_thread():
            raise ZeroDivisionError
        return grad

    y2 = x * 2
    y2.register_hook(failing)
    total = (y2 * y2).sum() + y
    caught = []

    def work(i):
        try:
            torch.autograd.grad(total, x, retain_graph=True)
        except ZeroDivisionError:
            caught.append(i)

    in_threads(4, work)
    assert sorted(caught) == [0, 1, 2, 3]
    assert torch.autograd.grad(total, x)[0].tolist() == [9.0] * 4
