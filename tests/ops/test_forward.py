"""Values, dtypes, shapes, strides and node names of every op of the table, against stored results of PyTorch."""

import pytest

import retrograd
from tests.ops.cases import all_cases, cases, specs_of
from tests.ops.differences import any_layout, comparable, excused, expandable
from tests.ops.harness import call, compare_outputs, entries, ids, report, run, variants_of
from tests.ops.references import stored
from tests.ops.tensors import LAYOUTS
from tools.make_references import missing


def test_every_sample_has_its_stored_result():
    stale = missing()
    assert not stale, "run tools/make_references.py where torch is installed:\n  " + "\n  ".join(stale[:20])


@pytest.mark.parametrize("entry", entries(comparable), ids=ids)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_as_stored(entry, dtype):
    failures = []
    for case in all_cases(entry):
        expected = stored(case, dtype)
        if expected is not None:
            messages = compare_outputs(run(retrograd, case, dtype), expected, entry, dtype)
            failures += [f"{case}: {m}" for m in messages if not excused(entry, m)]
    report(failures)


def _by_method(entry):
    return len(variants_of(entry)) > 1 and variants_of(entry)[1] == "method"


@pytest.mark.parametrize("entry", entries(_by_method), ids=ids)
def test_method_is_the_function(entry):
    failures = []
    for case in cases(entry):
        args, _, _ = case.bind(retrograd, grad=False)
        if args and isinstance(args[0], retrograd.Tensor):
            messages = compare_outputs(run(retrograd, case, variant="method"), run(retrograd, case), entry, "float64")
            failures += [f"{case}: {m}" for m in messages]
    report(failures)


def _any_layout(entry):
    return any_layout(entry) and entry.test.get("values") is not False and not entry.random


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("entry", entries(_any_layout), ids=ids)
def test_memory_layout_does_not_matter(entry, layout):
    """Transposed, strided (with NaN between the elements) and expanded inputs give what dense ones give."""
    failures = []
    for case in cases(entry):
        if layout == "expanded":
            if not expandable(entry):
                continue
            case = case.expanded()
        actual, expected = run(retrograd, case, layout=layout), run(retrograd, case)
        for record in (actual, expected):
            for output in record.outputs:
                output.stride, output.node = None, ""  # both may follow the input's layout: reshape is a view or a copy
        failures += [f"{case}: {m}" for m in compare_outputs(actual, expected, entry, "float64")]
    report(failures)


@pytest.mark.parametrize("entry", entries(lambda e: e.test.get("warns")), ids=ids)
def test_warns(entry):
    args, kwargs, _ = cases(entry)[0].bind(retrograd)
    with pytest.warns(UserWarning, match="deprecated"):
        call(retrograd, entry, args, kwargs)


@pytest.mark.parametrize("entry", entries(lambda e: e.test.get("alias") == "self"), ids=ids)
def test_result_is_the_input(entry):
    for case in cases(entry):
        if specs_of(case.sample):
            args, kwargs, _ = case.bind(retrograd)
            assert call(retrograd, entry, args, kwargs).data_ptr() == args[0].data_ptr()
