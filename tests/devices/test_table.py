"""Every op of the table, with its derivatives, on the guarded device: the CPU's bits, and no element touched outside a kernel."""

import copy

import pytest

import optable
import retrograd
from tests.devices.guarded import _C, DEVICE, engine, watched
from tests.ops.cases import cases, make_case
from tests.ops.harness import Record, call, entries, gradients, ids, report, run, variants_of
from tests.ops.tensors import flatten, tensor_numbers

pytestmark = pytest.mark.filterwarnings("ignore")


def _same(a, b):
    return a == b or (a != a and b != b)


def _difference(entry, actual: Record, expected: Record) -> str:
    if actual.error or expected.error:
        return "" if actual.error == expected.error else f"gives {actual.error} ({actual.message}), expected {expected.error or 'a result'}"
    for a, b in zip(actual.outputs, expected.outputs, strict=True):
        if (a.dtype, a.shape, a.stride, a.requires_grad, a.node) != (b.dtype, b.shape, b.stride, b.requires_grad, b.node):
            return f"{a} where {b} is expected"
        if entry.test.get("values") is not False and not all(map(_same, a.values, b.values)):
            return f"values {a.values[:4]} where {b.values[:4]} are expected"
    for a, b in zip(actual.grads, expected.grads, strict=True):
        if (a is None) != (b is None) or not all(map(_same, a or [], b or [])):
            return f"gradients {a and a[:4]} where {b and b[:4]} are expected"
    return ""


def _made(case):
    """An op that takes a device makes its tensor there."""
    names = [p.name for p in case.entry.params]
    if "device" not in names:
        return case
    sample = copy.copy(case.sample)
    place = names.index("device")
    if place < len(sample.args):
        object.__setattr__(sample, "args", (*sample.args[:place], "guarded", *sample.args[place + 1 :]))
    else:
        object.__setattr__(sample, "kwargs", {**sample.kwargs, "device": "guarded"})
    case = copy.copy(case)
    object.__setattr__(case, "sample", sample)
    return case


def _failures(entry, compared):
    failures = []
    for case in cases(entry):
        expected = compared(retrograd, case)
        with watched() as faults:
            actual = compared(engine, _made(case))
        failures += [f"{case}: {message}" for message in [_difference(entry, actual, expected)] if message]
        failures += [f"{case}: touched outside a kernel, op {op}: {what}" for op, what in faults]
    return failures


@pytest.mark.parametrize("entry", entries(), ids=ids)
def test_like_the_cpu(entry):
    report([f for dtype in ("float32", "int64") for f in _failures(entry, lambda e, case, d=dtype: run(e, case, d))])


def _reads(case):
    """Whether values come back to the process while an op runs."""
    args, kwargs, _ = _made(case).bind(engine, "float32")
    _C._guarded_kernels(True)
    try:
        with retrograd.no_grad():
            call(engine, case.entry, args, kwargs)
    finally:
        calls = _C._guarded_kernels(False)
    return any(name.startswith("to_host") for name in calls)


@pytest.mark.parametrize("entry", entries(lambda e: optable.target(e).kernel.kind in ("native", "pointwise", "view")), ids=ids)
def test_what_syncs_says_so(entry):
    """Of composites their parts say it."""
    assert any(map(_reads, cases(entry))) == optable.target(entry).syncs


def _twice(engine, case):
    """The record of second derivatives."""
    args, kwargs, inputs = case.bind(engine)
    try:
        outputs = flatten(call(engine, case.entry, args, kwargs))
        first = [g for g in gradients(engine, outputs, inputs, create_graph=True) if g is not None and g.requires_grad]
        second = gradients(engine, first, inputs, salt=7)
    except Exception as error:
        return Record(type(error).__name__, [], [], str(error)[:200])
    return Record("", [], [None if g is None else tensor_numbers(g) for g in second])


@pytest.mark.parametrize("entry", entries(lambda e: any(c.differentiable for c in cases(e))), ids=ids)
def test_second_derivatives(entry):
    report(_failures(entry, _twice))


@pytest.mark.parametrize("entry", [e for e in optable.load() if e.errors and variants_of(e)], ids=ids)
def test_errors(entry):
    """In the words of the CPU, also where a kernel finds what is wrong: an index, a target, a pivot."""
    for i, expected in enumerate(entry.errors):
        args, kwargs, _ = make_case(entry, i, expected.sample).bind(engine, "float32", grad=False)
        with watched() as faults, pytest.raises(expected.error, match=expected.match):
            call(engine, entry, args, kwargs)
        assert not faults


def test_a_touch_is_found():
    """The test of the test: a byte read without a kernel is noted, with the op that ran last, and the program goes on."""
    x = retrograd.arange(4.0).to(DEVICE)
    with watched() as faults:
        y = x.exp()
        _C._guarded_peek(y)
        z = y.cos()
        _C._guarded_peek(z)
    assert [op for op, _ in faults] == ["exp", "cos"]
    assert all(what.startswith("read") for _, what in faults)
    with watched() as faults:
        assert (y + z).sum().item() == (y.cpu() + z.cpu()).sum().item()
    assert not faults


def test_what_a_kernel_is_handed():
    """The test of the other test: pointers to the process, and to memory that was given back, are noted with the op and the kernel."""
    with watched() as faults:
        retrograd.arange(4.0).to(DEVICE).exp()
        _C._guarded_misuse()
    fill = "CopyKernels.fill was handed "
    assert faults == [
        ("exp", fill + "memory of the process"),
        ("exp", fill + "memory that no tensor owns"),
        ("exp", fill + "memory of the process"),
        ("exp", fill + "memory of the device for a pointer to the process"),
    ]


def test_unknown_before_it_is_registered():
    """Users cannot reach it."""
    import subprocess
    import sys

    code = "import retrograd as t\ntry: t.zeros(2, device='guarded')\nexcept RuntimeError as e: print(str(e)[:15])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out == "Expected one of\n"


def test_a_kernel_that_is_missing_is_named():
    x = retrograd.arange(4.0).to(DEVICE)
    _C._guarded_scans(False)
    try:
        with pytest.raises(NotImplementedError, match=r"Could not run 'cumsum' on the device 'guarded': it has no kernel for it"):
            x.cumsum(0)
    finally:
        _C._guarded_scans(True)
    assert x.cumsum(0).tolist() == [0.0, 1.0, 3.0, 6.0]
