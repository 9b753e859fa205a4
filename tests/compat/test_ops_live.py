"""The op table run on PyTorch and on retrograd side by side. Where PyTorch is not installed, tests/ops compares with stored results."""

import pytest

torch = pytest.importorskip("torch")

import optable  # noqa: E402
import retrograd  # noqa: E402
from tests.ops.cases import all_cases, cases, fits, make_case  # noqa: E402
from tests.ops.differences import CHECKED_ABOVE, NOT_IN_TORCH, any_layout, comparable, excused, expandable  # noqa: E402
from tests.ops.harness import call, compare_grads, compare_outputs, entries, exists, ids, inplace_function, report, run, variants_of  # noqa: E402
from tests.ops.tensors import LAYOUTS, WIDE_UNSIGNED  # noqa: E402

torch.set_num_threads(1)
COMPARED = entries(comparable)


@pytest.mark.parametrize("entry", entries(), ids=ids)
def test_torch_has_it(entry):
    assert exists(torch, entry) != (entry.name in NOT_IN_TORCH or entry.test.get("ours", False))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("entry", COMPARED, ids=ids)
def test_the_same(entry, dtype):
    failures = []
    for case in all_cases(entry):
        if not fits(case, dtype):
            continue
        a, b = run(retrograd, case, dtype), run(torch, case, dtype)
        messages = compare_outputs(a, b, entry, dtype) + compare_grads(a, b, dtype)
        failures += [f"{case}: {m}" for m in messages if not excused(entry, m)]
    report(failures)


@pytest.mark.parametrize("entry", COMPARED, ids=ids)
def test_the_same_in_wide_unsigned_integers(entry):
    """What PyTorch computes we compute; it has kernels for little."""
    failures = []
    for dtype in WIDE_UNSIGNED:
        for case in cases(entry)[:3]:
            if fits(case, dtype):
                a, b = run(retrograd, case, dtype), run(torch, case, dtype)
                if not b.error:
                    failures += [f"{case} in {dtype}: {m}" for m in compare_outputs(a, b, entry, dtype) if not excused(entry, m)]
    report(failures)


@pytest.mark.parametrize("entry", [e for e in COMPARED if e.test.get("values") is not False], ids=ids)
def test_the_same_in_other_memory_layouts(entry):
    """Where PyTorch's result is dense, ours is: code goes on with `.view`. What PyTorch refuses by layout we may compute."""
    failures = []
    for layout in LAYOUTS:
        for case in cases(entry)[:6]:
            if layout == "expanded":
                if not expandable(entry):
                    continue
                case = case.expanded()
            a, b = run(retrograd, case, layout=layout), run(torch, case, layout=layout)
            if b.error and any_layout(entry):
                continue
            for ours, theirs in zip(a.outputs, b.outputs, strict=False):
                ours.stride = theirs.stride or ours.stride
            messages = compare_outputs(a, b, entry, "float64") + compare_grads(a, b, "float64")
            failures += [f"{layout} {case}: {m}" for m in messages if not excused(entry, m)]
    report(failures)


ERRORS = [
    (entry, i)
    for entry in optable.load()
    for i in range(len(entry.errors))
    if variants_of(entry) and comparable(entry) and entry.name not in CHECKED_ABOVE
]


@pytest.mark.parametrize(("entry", "index"), ERRORS, ids=ids)
def test_torch_raises_what_the_table_says(entry, index):
    expected = entry.errors[index]
    args, kwargs, _ = make_case(entry, index, expected.sample).bind(torch, "float32", grad=False)
    with pytest.raises(expected.error, match=expected.match):
        call(torch, entry, args, kwargs)


def _bumps(engine, entry, case):
    args, kwargs, _ = case.bind(engine)
    target = args[0].clone()
    before = target._version
    try:
        inplace_function(engine, entry)(target, *args[1:], **kwargs)
    except RuntimeError:
        return "a refusal"
    return target._version - before


@pytest.mark.parametrize("entry", [e for e in COMPARED if "inplace" in e.variants and inplace_function(torch, e)], ids=ids)
def test_in_place_raises_the_version_alike(entry):
    failures = []
    for case in cases(entry):
        args, _, _ = case.bind(torch)
        if isinstance(args[0], torch.Tensor):
            ours, theirs = _bumps(retrograd, entry, case), _bumps(torch, entry, case)
            message = f"version raised by {ours}, expected {theirs}"
            if ours != theirs and not excused(entry, message):
                failures.append(f"{case}: {message}")
    report(failures)
