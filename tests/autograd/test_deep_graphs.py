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


def test_a_chain_of_gradients():
    run("""
        x = torch.ones(1, requires_grad=True)
        for _ in range(200_000):
            y = torch.ones(1, requires_grad=True)
            y.grad = x
            x = y
        del x, y
    """)


@pytest.mark.parametrize("step", ["torch.from_dlpack(x)", "torch.from_numpy(x.numpy())"])
def test_memory_that_was_handed_around(step):
    pytest.importorskip("numpy")
    run(f"""
        x = torch.ones(1)
        for _ in range(100_000):
            x = {step}
        assert x.item() == 1.0
        del x
    """)


# ---- backward inside backward ----

NESTED = """
import sys
class Nested(torch.autograd.Function):
    reached = 0
    @staticmethod
    def forward(ctx, x, levels, inside=None):
        ctx.levels, ctx.inside = levels, inside
        return x.clone()
    @staticmethod
    def backward(ctx, grad):
        Nested.reached += 1
        if ctx.levels:
            with torch.enable_grad():
                Nested.start(ctx.levels - 1, ctx.inside).backward()
        elif ctx.inside:
            ctx.inside()
        return grad, None, None
    @staticmethod
    def start(levels, inside=None):
        return Nested.apply(torch.ones((), requires_grad=True), levels, inside)
"""


def nested(body):
    run(NESTED.strip() + "\n" + textwrap.dedent(body))


def test_nested_backward_is_not_bounded_by_the_recursion_limit():
    nested("""
        assert sys.getrecursionlimit() <= 1000
        Nested.start(2000).backward()
        assert Nested.reached == 2001
    """)


@pytest.mark.parametrize("limit", [600, 1_000_000])
def test_ten_thousand_nested_backwards(limit):
    nested(f"""
        sys.setrecursionlimit({limit})
        Nested.start(10_000).backward()
        assert Nested.reached == 10_001
    """)


def test_nested_backward_in_hooks_unpack_hooks_and_recomputation():
    nested("""
        from retrograd.utils.checkpoint import checkpoint
        count = [0]
        def inner(levels, start):
            count[0] += 1
            with torch.enable_grad():
                if levels: start(levels - 1).backward()
        def by_hook(levels):
            y = torch.ones((), requires_grad=True) * 2
            y.register_hook(lambda grad: inner(levels, by_hook))
            return y
        def by_post_hook(levels):
            x = torch.ones((), requires_grad=True)
            x.register_post_accumulate_grad_hook(lambda x: inner(levels, by_post_hook))
            return x * 2
        def by_node_hook(levels):
            y = torch.ones((), requires_grad=True) * 2
            y.grad_fn.register_hook(lambda ins, outs: inner(levels, by_node_hook))
            return y
        def by_unpack_hook(levels):
            def unpack(t):
                inner(levels, by_unpack_hook)
                return t
            with torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
                return torch.ones((), requires_grad=True).exp()
        def by_recomputation(levels):
            runs = []
            def f(x):
                runs.append(1)
                if len(runs) == 2: inner(levels, by_recomputation)
                return x.exp()
            return checkpoint(f, torch.ones((), requires_grad=True), use_reentrant=True)
        for start in (by_hook, by_post_hook, by_node_hook, by_unpack_hook, by_recomputation):
            count[0] = 0
            start(1500).backward()
            assert count[0] == 1501, (start, count)
    """)


def test_what_is_true_of_the_thread_is_true_in_a_deep_backward():
    nested("""
        import contextvars
        thread = threading.current_thread()
        variable = contextvars.ContextVar("variable", default=0)
        variable.set(7)
        local = threading.local(); local.value = 8
        packed = []
        def check():
            assert threading.current_thread() is thread and variable.get() == 7 and local.value == 8
            assert torch.is_grad_enabled() is False and torch.is_anomaly_enabled()
            frame, depth = sys._getframe(), 0
            while frame: frame, depth = frame.f_back, depth + 1
            assert depth > 300
            with torch.enable_grad():
                packed.clear()
                torch.ones(1, requires_grad=True).exp()
                assert packed
            variable.set(9)
        sys.setrecursionlimit(250)  # anomaly mode notes all frames for each node: deep enough is deep enough
        hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t)
        with hooks, torch.autograd.set_detect_anomaly(True, check_nan=False):
            Nested.start(300, check).backward()
        assert variable.get() == 9 and torch.is_grad_enabled()
    """)


def test_an_error_leaves_a_deep_backward():
    nested("""
        class Special(BaseException): pass
        def fail(): raise Special("deep inside")
        for _ in range(2):
            try: Nested.start(3000, fail).backward()
            except Special as error: assert error.args == ("deep inside",)
            else: raise AssertionError
        try: Nested.start(3000, lambda: torch.ones(2, requires_grad=True).backward()).backward()
        except RuntimeError as error: assert "grad can be implicitly created only for scalar outputs" in str(error)
        else: raise AssertionError
        # Nothing is left of the runs, nor of the calls that were counted.
        x = torch.ones(1, requires_grad=True); (x * 2).backward(); assert x.grad.item() == 2 and not torch._C._in_backward()
        def depth(n): return n if n == 0 else depth(n - 1)
        depth(sys.getrecursionlimit() - 100)
        try: depth(sys.getrecursionlimit())
        except RecursionError: pass
        else: raise AssertionError
    """)


def test_an_interrupt_reaches_a_deep_backward():
    code = """
        import _thread, sys
        import retrograd as torch
        {nested}
        def interrupt():
            _thread.interrupt_main()
            for _ in range(10**9): pass
        try: Nested.start(2000, interrupt).backward()
        except KeyboardInterrupt: print("done")
    """
    program = textwrap.dedent(code).format(nested=NESTED)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert done.stdout.strip() == "done", done.stderr[-2000:]


def test_the_recursion_limit_may_change_inside():
    nested("""
        before = sys.getrecursionlimit()
        Nested.start(2000, lambda: sys.setrecursionlimit(before + 500)).backward()
        def depth(n): return n if n == 0 else depth(n - 1)
        depth(before + 400)
        try: depth(before + 500)
        except RecursionError: pass
        else: raise AssertionError
    """)


def test_backward_without_end_is_an_error_in_words():
    nested("""
        def endless():
            y = torch.ones((), requires_grad=True) * 2
            def again(grad):
                with torch.enable_grad(): endless()
            y.register_hook(again)
            y.backward()
        try: endless()
        except RecursionError as error: assert "calls of backward() are running inside each other" in str(error), error
        else: raise AssertionError
    """)


def test_nested_backward_on_a_thread_with_little_stack():
    nested("""
        threading.stack_size(256 * 1024)
        worker = threading.Thread(target=lambda: Nested.start(3000).backward())
        worker.start()
        worker.join()
        assert Nested.reached == 3001
    """)
