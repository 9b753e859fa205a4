"""Complex numbers in every op of the table: results and gradients as PyTorch stored them, and derivatives against differences.

The gradient of a real function of z = x + iy is d/dx + i d/dy, so its parts are what differences in the parts of z give."""

import pytest

import retrograd
from tests.ops import numeric
from tests.ops.cases import all_cases, cases, specs_of
from tests.ops.differences import comparable, excused, has_differences
from tests.ops.harness import call, compare_grads, compare_outputs, differing, entries, gradients, ids, report, run, variants_of
from tests.ops.references import stored
from tests.ops.tensors import flatten, tensor_numbers
from tests.ops.test_forward_mode import as_function, first_order as forward_mode, moves_as_it_says
from tests.ops.test_inplace import check as check_in_place

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
            floats = [v for spec, v in zip(specs_of(case.sample), case.values, strict=True) if spec.kind == "float"]
            if actual.error == "NotImplementedError" and not all(floats):
                continue  # an op without a complex kernel: PyTorch notices only where there is work
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


def usable(entry):
    return [case.as_complex() for case in cases(entry) if has_differences(case) and not _refused(case)]


@pytest.mark.parametrize("entry", CHECKED, ids=ids)
def test_first_order(entry):
    found = [(case, numeric.first_order(case)) for case in usable(entry)]
    report([f"{case}: {message}" for case, message in found if message])


@pytest.mark.parametrize("entry", [e for e in CHECKED if e.test.get("gradgrad") is not False], ids=ids)
def test_second_order(entry):
    skipped = entry.test.get("gradgrad_skip_samples", ())
    found = [(case, numeric.second_order(case)) for case in usable(entry) if case.index not in skipped]
    report([f"{case}: {message}" for case, message in found if message])


@pytest.mark.parametrize("entry", CHECKED, ids=ids)
def test_forward_mode_agrees_with_backward(entry):
    report([f"{case}: {m}" for case in usable(entry) if moves_as_it_says(case) and (m := forward_mode(case, as_function(case)))])


def _in_place(entry):
    return "inplace" in entry.variants and variants_of(entry)[0] != "inplace" and entry.test.get("values") is not False


@pytest.mark.parametrize("entry", [e for e in CHECKED if _in_place(e)], ids=ids)
def test_in_place_is_out_of_place(entry):
    failures = []
    for case in usable(entry):
        args, kwargs, _ = case.bind(retrograd, grad=False)
        if isinstance(args[0], retrograd.Tensor) and call(retrograd, entry, args, kwargs).dtype.is_complex:
            failures.append(f"{case}: {check_in_place(entry, case)}")
    report([f for f in failures if not f.endswith(": ")])


def _conjugated(value):
    """The same numbers, as a lazy conjugate of other memory."""
    if isinstance(value, retrograd.Tensor) and value.is_complex():
        other = value.detach().conj().resolve_conj().requires_grad_(value.requires_grad)
        return other.conj(), [other] if value.requires_grad else []
    if isinstance(value, (list, tuple)):
        made = [_conjugated(v) for v in value]
        return type(value)(v for v, _ in made), [leaf for _, leaves in made for leaf in leaves]
    return value, []


@pytest.mark.parametrize("entry", [e for e in CHECKED if not e.random and e.name != "view_as_real"], ids=ids)
def test_lazy_conjugates_are_like_other_tensors(entry):
    """Values, and gradients: those of the memory that is conjugated are the conjugates."""
    failures = []
    for case in usable(entry):
        if variants_of(entry)[0] == "inplace":
            continue
        args, kwargs, inputs = case.bind(retrograd)
        expected = flatten(call(retrograd, entry, args, kwargs))
        expected_grads = gradients(retrograd, expected, inputs)
        args, kwargs, inputs = case.bind(retrograd)
        args, leaves = _conjugated(args)
        named = {k: _conjugated(v) for k, v in kwargs.items()}
        leaves += [leaf for _, more in named.values() for leaf in more]
        actual = flatten(call(retrograd, entry, args, {k: v for k, (v, _) in named.items()}))
        for a, b in zip(actual, expected, strict=True):
            if isinstance(b, retrograd.Tensor) and (message := differing(tensor_numbers(a), tensor_numbers(b), 1e-12)):
                failures.append(f"{case}: {message}")
        for a, b in zip(gradients(retrograd, actual, leaves), expected_grads, strict=True):
            if a is not None and b is not None and (message := differing(tensor_numbers(a.conj()), tensor_numbers(b), 1e-12)):
                failures.append(f"{case}: gradient: {message}")
    report(failures)
