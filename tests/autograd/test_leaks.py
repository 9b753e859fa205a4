"""Nothing is left behind: tensors, nodes and bytes go back to where they were, at once or with the next `gc.collect()`."""

import copy
import gc
import sys
import weakref

import pytest

import retrograd as torch
from retrograd import _C


def alive():
    """(tensors, nodes, bytes of storage)."""
    return (*_C._live_objects(), torch.memory_allocated())


def nothing_new(before):
    """Less may be alive than before: what a failed test's traceback held goes when pytest lets go of it."""
    return all(now <= then for now, then in zip(alive(), before, strict=True))


@pytest.fixture(autouse=True)
def _nothing_left():
    gc.collect()
    before = alive()
    yield
    gc.collect()
    assert nothing_new(before)


class Freed:
    """`with Freed():` checks that the block leaves nothing, without any help from the garbage collector (or with, if `gc=True`)."""

    def __init__(self, by_gc=False):
        self.by_gc = by_gc

    def __enter__(self):
        gc.collect()
        gc.disable()
        self.before = alive()

    def __exit__(self, *exception):
        gc.enable()
        if self.by_gc:
            gc.collect()
        assert exception[0] is not None or nothing_new(self.before)


def loss_of(x):
    return ((x * 2).exp().sin() @ x.T).sum()


def test_the_check_notices_what_is_kept():
    kept = []
    with pytest.raises(AssertionError), Freed():
        kept.append(torch.ones(2, requires_grad=True) * 2)
    with pytest.raises(AssertionError), Freed(by_gc=True):
        kept.append(torch.ones(2))


# ---- freed at once ----


def test_a_dropped_graph_is_freed_at_once():
    def work():
        x = torch.randn(8, 8, requires_grad=True)
        loss_of(x)

    with Freed():
        work()


def test_backward_frees_what_it_saved():
    x = torch.randn(64, 64, requires_grad=True)
    loss = loss_of(x)
    full = torch.memory_allocated()
    loss.backward()
    assert torch.memory_allocated() <= full - 2 * x.nbytes + x.grad.nbytes  # two saved tensors went, one gradient came


def test_a_training_loop_holds_steady():
    w = torch.randn(16, 16, requires_grad=True)
    seen = set()
    for _ in range(20):
        loss_of(w).backward()
        with torch.no_grad():
            w -= 0.001 * w.grad
        w.grad = None
        seen.add(alive())
    assert len(seen) == 1


def test_accumulating_gradients_holds_steady():
    w = torch.randn(16, 16, requires_grad=True)
    loss_of(w).backward()
    before = alive()
    for _ in range(10):
        loss_of(w).backward()
    assert alive() == before


def test_autograd_grad_and_second_order():
    def work():
        x = torch.randn(4, 4, requires_grad=True)
        (first,) = torch.autograd.grad(loss_of(x), x, create_graph=True)
        torch.autograd.grad(first.square().sum(), x)

    with Freed():
        work()


def test_views_and_in_place():
    def work():
        x = torch.randn(4, 4, requires_grad=True)
        y = x.clone()
        y[1].mul_(2)
        y.t().add_(1)
        y.sum().backward()

    with Freed():
        work()


def test_grad_fn_held_alone():
    def work():
        x = torch.randn(4, requires_grad=True)
        node = (x * 2).exp().grad_fn
        assert node.next_functions[0][0].name() == "MulBackward0"

    with Freed():
        work()


# ---- exceptions ----


def test_exception_in_a_hook():
    def work():
        x = torch.randn(4, 4, requires_grad=True)
        y = (x * 2).exp()

        def hook(grad):
            raise ValueError("hook")

        y.register_hook(hook)
        with pytest.raises(ValueError, match="hook"):
            y.sum().backward()

    with Freed(by_gc=True):
        work()


def test_exceptions_in_forward():
    def work():
        x = torch.randn(4, 4, requires_grad=True)
        for bad in (
            lambda: x @ x[:3],
            lambda: x.reshape(5),
            lambda: x.add_(torch.ones(5)),
            lambda: torch.cat([x, x[:, :2]]),
            lambda: x.sum(7),
        ):
            with pytest.raises((RuntimeError, IndexError)):
                bad()

    with Freed(by_gc=True):  # tracebacks hold frames in cycles
        work()


def test_second_backward_error():
    def work():
        x = torch.randn(4, requires_grad=True)
        y = x.exp().sum()
        y.backward()
        with pytest.raises(RuntimeError, match="second time"):
            y.backward()

    with Freed(by_gc=True):
        work()


def test_version_error():
    def work():
        x = torch.randn(4, requires_grad=True)
        y = x.exp()
        y.mul_(2)
        with pytest.raises(RuntimeError, match="inplace operation"):
            y.sum().backward()

    with Freed(by_gc=True):
        work()


# ---- cycles ----


def cycle_through_a_hook():
    x = torch.randn(4, requires_grad=True)
    y = x.exp()
    y.register_hook(lambda grad: y)
    return y


def cycle_through_a_leaf_hook():
    x = torch.randn(4, requires_grad=True)
    x.register_hook(lambda grad: x)
    return x


def cycle_through_a_node_hook():
    x = torch.randn(4, requires_grad=True)
    y = x.exp()
    y.grad_fn.register_hook(lambda inputs, outputs: y)
    return y


def cycle_through_metadata():
    x = torch.randn(4, requires_grad=True)
    y = x.exp()
    y.grad_fn.metadata["me"] = y
    return y


def cycle_through_an_attribute():
    class Labelled(torch.Tensor):
        pass

    x = torch.randn(4).as_subclass(Labelled)
    x.me = x
    return x


def cycle_through_grad():
    x = torch.randn(4, requires_grad=True)
    (x**3).sum().backward(create_graph=True)
    return x  # x.grad's graph holds x


def cycle_through_an_outer_list():
    x = torch.randn(4, requires_grad=True)
    kept = [x]
    y = x * 2
    kept.append(y)
    y.register_hook(lambda grad: kept[0])
    return y


CYCLES = [f for name, f in sorted(globals().items()) if name.startswith("cycle_")]


@pytest.mark.parametrize("make", CYCLES, ids=lambda f: f.__name__)
def test_cycles_are_collected(make):
    with Freed(by_gc=True):
        watched = weakref.ref(make())
        gc.collect()
        assert watched() is None


@pytest.mark.parametrize("make", CYCLES, ids=lambda f: f.__name__)
def test_cycles_that_are_in_use_are_not_collected(make):
    kept = make()
    values = kept.detach().tolist()
    gc.collect()
    assert kept.detach().tolist() == values
    (kept.detach() * 2).tolist()
    del kept


def test_a_collected_graph_of_many_nodes():
    """gc may break a cycle anywhere in a long chain."""

    def work():
        x = torch.randn(2, requires_grad=True)
        y = x
        for _ in range(2000):
            y = y * 1.0001
        y.register_hook(lambda grad: y)

    with Freed(by_gc=True):
        work()


def test_cycles_without_python_objects_are_collected_in_time():
    """Tensors and nodes of the pools do not count towards the collector's thresholds; their cycles are found all the same."""
    gc.collect()
    before, most = sum(_C._live_objects()), 0
    for _ in range(10 * gc.get_threshold()[0]):
        cycle_through_grad()
        most = max(most, sum(_C._live_objects()))
    assert most - before < 20 * gc.get_threshold()[0]


def test_large_cycles_do_not_wait_for_many_small_ones():
    """The collector counts objects; when tensors hold hundreds of megabytes, a few cycles are many."""
    gc.collect()
    torch.reset_peak_memory_stats()
    before = torch.memory_allocated()
    for _ in range(60):
        w = torch.ones(4 << 20, requires_grad=True)
        (w * w).sum().backward(create_graph=True)  # 32 MiB, at the least
    del w
    assert torch.max_memory_allocated() - before < 2 * before + (512 << 20)
    gc.collect()
    assert torch.memory_allocated() == before
    torch.empty_cache()


def test_a_dictionary_for_the_collector_is_no_attribute():
    x = cycle_through_grad()
    assert x.__dict__ == {} and copy.deepcopy(x.detach()).__dict__ == {}


def test_functions_defined_again_and_again():
    """What is kept for a Function goes with its class, and nodes that outlive the class go on working."""
    x = torch.randn(4, requires_grad=True)

    def define(factor):
        class Scaled(torch.autograd.Function):
            @staticmethod
            def forward(ctx, t, times=1):
                return t * factor

            @staticmethod
            def backward(ctx, grad):
                return grad * factor, None

        return Scaled

    def work(factor):
        y = define(factor).apply(x)
        gc.collect()
        assert y.grad_fn.name() == "ScaledBackward"
        (grad,) = torch.autograd.grad(y.sum(), x)
        return grad[0].item(), weakref.ref(y.grad_fn._forward_cls)

    for factor in range(20):  # what is made once is made then, the doctor's books among it
        work(factor)
    gc.collect()
    before = len(gc.get_objects())
    results = [work(factor) for factor in range(20)]
    gc.collect()
    assert [value for value, _ in results] == list(range(20))
    assert [cls() for _, cls in results] == [None] * 20
    assert len(gc.get_objects()) - before < 60  # the results themselves, but no types


def test_refused_views_leave_no_nodes():
    y = torch.ones(2, requires_grad=True) * 1
    v = y.unbind()[0]
    y.mul_(2)

    def attempt():
        for use in (lambda: v * 2, lambda: v.view(1), lambda: torch.stack([v, v]), lambda: v.sum(), lambda: v + v):
            with pytest.raises(RuntimeError, match="its base or another view of its base"):
                use()

    attempt()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(200):
        attempt()
    gc.collect()
    assert sys.getallocatedblocks() - before < 100
