"""Complex numbers in every op of the table: results and gradients as PyTorch stored them, and derivatives against differences.

The gradient of a real function of z = x + iy is d/dx + i d/dy, so its parts are what differences in the parts of z give."""

import pytest

import retrograd
from tests.ops import numeric
from tests.ops.cases import all_cases, cases, specs_of
from tests.ops.differences import comparable, excused, has_differences
from tests.ops.harness import compare_grads, compare_outputs, entries, ids, report, run
from tests.ops.references import stored

pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated", "ignore:Casting complex")


def _floating(entry):
    return any(spec.kind == "float" for case in cases(entry) for spec in specs_of(case.sample))


def _refused(case):
    expected = stored(case, "complex128")
    return expected is None or bool(expected.error)


@pytest.mark.parametrize("entry", entries(lambda e: comparable(e) and _floating(e)), ids=ids)
@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
def test_as_stored(entry, dtype):
    failures = []
    for case in all_cases(entry):
        expected = stored(case, dtype)
        if expected is not None:
            actual = run(retrograd, case, dtype)
            messages = compare_outputs(actual, expected, entry, dtype) + (compare_grads(actual, expected, dtype) if expected.grads else [])
            failures += [f"{case}: {m}" for m in messages if not excused(entry, m)]
    report(failures)


def _differentiable(entry):
    return (
        _floating(entry)
        and any(case.differentiable for case in cases(entry))
        and entry.test.get("gradcheck") is not False
        and entry.test.get("inplace_grad") is not False
        and comparable(entry)
        and not all(_refused(case) for case in cases(entry))
    )


CHECKED = entries(_differentiable)


@pytest.mark.parametrize("entry", CHECKED, ids=ids)
def test_first_order(entry):
    usable = [case.as_complex() for case in cases(entry) if has_differences(case) and not _refused(case)]
    found = [(case, numeric.first_order(case)) for case in usable]
    report([f"{case}: {message}" for case, message in found if message])


@pytest.mark.parametrize("entry", [e for e in CHECKED if e.test.get("gradgrad") is not False], ids=ids)
def test_second_order(entry):
    skipped = entry.test.get("gradgrad_skip_samples", ())
    usable = [case.as_complex() for case in cases(entry) if has_differences(case) and not _refused(case) and case.index not in skipped]
    found = [(case, numeric.second_order(case)) for case in usable]
    report([f"{case}: {message}" for case, message in found if message])
