"""Every dtype: what PyTorch computes we compute, with its result dtype; what it refuses we refuse."""

import pytest

import retrograd
from tests.ops.cases import cases
from tests.ops.differences import comparable, excused
from tests.ops.harness import call, compare_outputs, entries, gradients, ids, report, run
from tests.ops.references import stored
from tests.ops.tensors import DTYPES, FLOATS, flatten

pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated")

OTHERS = [d for d in DTYPES if d not in ("float64", "float32", "int64")]  # those are in test_forward.py, on all samples


@pytest.mark.parametrize("entry", entries(comparable), ids=ids)
def test_as_stored(entry):
    failures = []
    for case in cases(entry)[:2]:
        for dtype in OTHERS:
            expected = stored(case, dtype)
            if expected is not None:
                messages = compare_outputs(run(retrograd, case, dtype), expected, entry, dtype)
                told = [f"{case} in {dtype}: {m}" for m in messages]
                failures += [m for m in told if not excused(entry, m)]
    report(failures)


def _floating(entry):
    return any(case.differentiable for case in cases(entry)) and entry.test.get("gradcheck") is not False


@pytest.mark.parametrize("entry", entries(_floating), ids=ids)
def test_gradients_have_the_dtype_of_the_input(entry):
    failures = []
    for dtype in FLOATS:
        for case in cases(entry)[:2]:
            if run(retrograd, case, dtype).error or not case.differentiable:
                continue
            args, kwargs, inputs = case.bind(retrograd, dtype)
            outputs = [o for o in flatten(call(retrograd, entry, args, kwargs)) if isinstance(o, retrograd.Tensor)]
            for tensor, grad in zip(inputs, gradients(retrograd, outputs, inputs), strict=True):
                if grad is not None and (grad.dtype, grad.shape) != (tensor.dtype, tensor.shape):
                    failures.append(f"{case}: gradient is {grad.dtype} {tuple(grad.shape)}, input {tensor.dtype} {tuple(tensor.shape)}")
    report(failures)
