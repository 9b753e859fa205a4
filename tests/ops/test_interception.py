"""The handler stack sees every op: those of the program, of composites and of backward."""

import contextlib
import itertools
import threading
from dataclasses import astuple

import pytest

import retrograd
from retrograd import _C
from retrograd.testing import assert_close
from tests.ops.cases import cases
from tests.ops.harness import call, entries, ids, report, run

RUNS = [("float64", "contiguous"), ("float32", "transposed"), ("complex64", "contiguous")]


@contextlib.contextmanager
def handling(handler):
    _C._push_op_handler(handler)
    try:
        yield handler
    finally:
        assert _C._pop_op_handler() is handler


class Logger:
    """Writes down the names of ops and lets them run."""

    def __init__(self):
        self.names = []

    def __call__(self, op, args, kwargs):
        self.names.append(op.name)
        return op(*args, **kwargs)


def test_forward_and_backward_ops_are_seen():
    x = retrograd.tensor([1.0, 2.0], requires_grad=True)
    with handling(Logger()) as log:
        y = (x * x).sum()
        forward = list(log.names)
        y.backward()
    assert forward == ["mul", "sum"]
    assert "mul" in log.names[2:]  # the derivative of x * x
    assert_close(x.grad, 2 * x.detach())


def test_composites_are_seen():
    """As themselves, or as the ops they are made of."""
    logits, target = retrograd.randn(3, 4), retrograd.tensor([0, 1, 2])
    with handling(Logger()) as log:
        retrograd.nn.functional.cross_entropy(logits, target)
    assert any("cross_entropy" in name or "nll_loss" in name for name in log.names)


def test_ops_of_python_functions_are_seen():
    a, b = retrograd.randn(2, 3), retrograd.randn(3, 4)
    with handling(Logger()) as log:
        retrograd.einsum("ij,jk->ik", a, b)
    assert {"bmm", "mm", "matmul"} & set(log.names)


def test_methods_operators_in_place_and_indexing_are_seen():
    x = retrograd.ones(3)
    with handling(Logger()) as log:
        x.exp()
        -x
        x += 1
        x[0]
        x.mean()
    assert len(log.names) >= 5
    assert log.names[:2] == ["exp", "neg"]
    assert log.names[2].startswith("add")


def test_nothing_is_seen_after_the_pop():
    with handling(Logger()) as log:
        pass
    retrograd.ones(2) + 1
    assert log.names == []


def test_a_handler_may_replace_the_result():
    with handling(lambda op, args, kwargs: op(*args, **kwargs) if op.name != "exp" else args[0]):
        assert retrograd.tensor([5.0]).exp().item() == 5.0


def test_a_handler_may_change_the_arguments():
    with handling(lambda op, args, kwargs: op(args[0], 10) if op.name == "mul" else op(*args, **kwargs)):
        assert (retrograd.tensor(2) * 3).item() == 20


def test_a_handler_does_not_see_its_own_ops():
    seen = []

    def handler(op, args, kwargs):
        seen.append(op.name)
        retrograd.ones(2) + 1
        return op(*args, **kwargs)

    x = retrograd.ones(2)
    with handling(handler):
        x.exp()
    assert seen == ["exp"]


def test_nested_handlers_run_innermost_first():
    order = []

    def named(name):
        def handler(op, args, kwargs):
            order.append(name)
            return op(*args, **kwargs)

        return handler

    x = retrograd.ones(2)
    with handling(named("outer")), handling(named("inner")):
        x.exp()
    assert order == ["inner", "outer"]


def test_an_exception_passes_through_and_the_stack_survives():
    def handler(op, args, kwargs):
        raise KeyError("from the handler")

    x = retrograd.ones(2, requires_grad=True)
    with handling(Logger()) as log, handling(handler), pytest.raises(KeyError, match="from the handler"):
        x.exp()
    assert log.names == []
    with handling(log):
        x.exp()
    assert log.names == ["exp"]


def test_an_exception_in_backward():
    def handler(op, args, kwargs):
        raise KeyError("in backward")

    x = retrograd.ones(2, requires_grad=True)
    y = (x * x).sum()
    with handling(handler), pytest.raises(KeyError, match="in backward"):
        y.backward()


def test_an_error_of_the_op_itself():
    x = retrograd.ones(2, 3)
    with handling(Logger()), pytest.raises(RuntimeError, match="cannot be multiplied"):
        x @ x
    assert (x + 1).sum().item() == 12


def test_a_result_of_the_wrong_type_is_refused():
    with handling(lambda op, args, kwargs: "text"), pytest.raises(TypeError, match="op handler must return a Tensor"):
        retrograd.ones(2)


def test_popping_an_empty_stack():
    with pytest.raises(RuntimeError, match="handler stack is empty"):
        _C._pop_op_handler()


def test_handlers_belong_to_their_thread():
    with handling(Logger()) as log:
        worker = threading.Thread(target=lambda: retrograd.ones(2) + 1)
        worker.start()
        worker.join()
    assert log.names == []


def test_op_objects_name_themselves():
    ops = []
    x = retrograd.ones(2, 2)
    with handling(lambda op, args, kwargs: ops.append(op) or op(*args, **kwargs)):
        x.sum(0)
    assert ops[0].name == ops[0].__name__ == "sum.dim"
    assert ops[0].schema.startswith("sum.dim(Tensor self, int[]")
    assert repr(ops[0]) == "<op sum.dim>"


def exactly(record):
    """All of a record, numbers by their digits: NaN and the sign of zero count."""
    outputs = [(*astuple(o)[:-1], [repr(v) for v in o.values]) for o in record.outputs]
    return record.error, outputs, [None if g is None else [repr(v) for v in g] for g in record.grads]


@pytest.mark.parametrize("entry", entries(), ids=ids)
def test_every_op_passes_through_a_handler_unchanged(entry):
    """Arguments are boxed and read back. Watching changes nothing: results and gradients have the same bits, random numbers go on alike."""
    failures = []
    for case, (dtype, layout) in itertools.product(cases(entry)[:4], RUNS):
        if entry.test.get("values") is False:
            continue
        found = []
        for watch in (contextlib.nullcontext, lambda: handling(Logger())):
            retrograd.manual_seed(1)
            with watch():
                record = run(retrograd, case, dtype, layout)
            found.append((exactly(record), retrograd.get_rng_state().tolist()))
        if found[0] != found[1]:
            failures.append(f"{case} in {dtype}, {layout}: {found[0][0]} became {found[1][0]}")
    report(failures)


def test_in_place_ops_keep_their_identity():
    x = retrograd.ones(3)
    with handling(Logger()):
        assert x.mul_(2) is x
    assert x.tolist() == [2, 2, 2]
    entry = entries(lambda e: e.qualified == "mul")[0]
    assert call(retrograd, entry, [x, x], {}).tolist() == [4, 4, 4]


def test_watching_does_not_make_a_resized_out_warn():
    """Ops that fill out= directly resize it in silence, watched or not."""
    import warnings

    retrograd._C._push_op_handler(lambda op, args, kwargs: op(*args, **kwargs))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert retrograd.bernoulli(retrograd.zeros(2, 3), out=retrograd.zeros(7, 1)).shape == (2, 3)
    finally:
        retrograd._C._pop_op_handler()
