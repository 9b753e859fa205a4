"""Chains far deeper than any stack: built, run backward and freed without recursion, in a process with the usual 8 MB of stack."""

import subprocess
import sys
import textwrap

import pytest

BUILD_AND_RUN = """
import gc, threading
import retrograd as torch
from retrograd import _C

def chain(n):
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(n):
        y = y * 1.0
    return x, y

def check():
    {body}
    gc.collect()
    tensors, nodes = _C._live_objects()
    assert nodes == 0, nodes

worker = threading.Thread(target=check)  # threads get the stack of `ulimit -s`
failed = []
threading.excepthook = lambda args: failed.append(repr(args.exc_value))
worker.start()
worker.join()
assert not failed, failed
print("done")
"""


def run(body, timeout=300):
    code = BUILD_AND_RUN.format(body=textwrap.indent(textwrap.dedent(body), "    ").strip())
    command = ["bash", "-c", 'ulimit -s 8192; exec "$0" -', sys.executable]
    done = subprocess.run(command, input=code, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0 and done.stdout.strip() == "done", f"exit {done.returncode}\n{done.stderr[-2000:]}"


def chain(n):
    run(f"""
        x, y = chain({n})
        y.backward()
        assert x.grad.item() == 1.0
        del x, y
    """)


def test_a_million_nodes():
    chain(1_000_000)


@pytest.mark.slow
def test_ten_million_nodes():
    chain(10_000_000)


def test_a_chain_that_is_dropped_without_backward():
    run("""
        x, y = chain(1_000_000)
        del y
        assert _C._live_objects()[1] <= 1
        del x
    """)


def test_backward_twice():
    run("""
        x, y = chain(200_000)
        y.backward(retain_graph=True)
        y.backward()
        assert x.grad.item() == 2.0
        del x, y
    """)


def test_second_order():
    """Backward with create_graph makes a graph as deep again."""
    run("""
        x = torch.tensor(1.0, requires_grad=True)
        y = x
        for _ in range(50_000):
            y = (y * y).sqrt()
        (first,) = torch.autograd.grad(y, x, create_graph=True)
        first.backward()
        del x, y, first
    """)


def test_a_chain_of_views_and_in_place_writes():
    run("""
        x = torch.ones(2, requires_grad=True)
        y = x.clone()
        for _ in range(100_000):
            y[0].mul_(1.0)
        y.sum().backward()
        assert x.grad.tolist() == [1.0, 1.0]
        del x, y
    """)


def test_wide_and_deep():
    """Each step joins two paths: the number of paths is astronomical, the number of nodes is not."""
    run("""
        x = torch.ones(1, requires_grad=True)
        y = x
        for _ in range(100_000):
            y = y * 0.5 + y * 0.5
        y.backward()
        assert x.grad.item() == 1.0
        del x, y
    """)


def test_a_cycle_in_a_deep_chain_is_collected():
    run("""
        x, y = chain(300_000)
        y.register_hook(lambda grad: y)
        del x, y
    """)
