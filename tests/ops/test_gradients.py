"""First and second derivatives of every op of the table: against PyTorch's stored ones, against differences, and against themselves."""

import math

import pytest

import retrograd
from tests.ops import numeric
from tests.ops.cases import all_cases, cases, not_implemented
from tests.ops.differences import any_layout, comparable, excused, expandable, has_differences
from tests.ops.harness import call, compare_grads, cotangent, differing, entries, gradients, ids, report, run
from tests.ops.references import stored
from tests.ops.tensors import LAYOUTS, flatten, tensor_numbers

pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated")


def _differentiable(entry):
    return any(case.differentiable for case in cases(entry))


def _checked(entry):
    return _differentiable(entry) and entry.test.get("gradcheck") is not False and entry.test.get("inplace_grad") is not False


DIFFERENTIABLE = entries(_differentiable)
CHECKED = entries(_checked)
TWICE = [e for e in CHECKED if e.test.get("gradgrad") is not False]


def differentiable_cases(entry):
    return [case for case in cases(entry) if case.differentiable]


@pytest.mark.parametrize("entry", [e for e in DIFFERENTIABLE if comparable(e)], ids=ids)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_as_stored(entry, dtype):
    failures = []
    for case in all_cases(entry):
        expected = stored(case, dtype)
        if expected is not None:
            failures += [f"{case}: {m}" for m in compare_grads(run(retrograd, case, dtype), expected, dtype) if not excused(entry, m)]
    report(failures)


@pytest.mark.parametrize("entry", CHECKED, ids=ids)
def test_first_order(entry):
    found = [(case, numeric.first_order(case)) for case in cases(entry) if has_differences(case)]
    report([f"{case}: {message}" for case, message in found if message])


@pytest.mark.parametrize("entry", TWICE, ids=ids)
def test_second_order(entry):
    skipped = entry.test.get("gradgrad_skip_samples", ())
    found = [(case, numeric.second_order(case)) for case in cases(entry) if has_differences(case) and case.index not in skipped]
    report([f"{case}: {message}" for case, message in found if message])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("entry", [e for e in CHECKED if any_layout(e)], ids=ids)
def test_memory_layout_does_not_matter(entry, layout):
    failures = []
    for case in differentiable_cases(entry):
        if layout == "expanded":
            if not expandable(entry):
                continue
            case = case.expanded()
        messages = compare_grads(run(retrograd, case, layout=layout), run(retrograd, case), "float64")
        failures += [f"{case}: {m}" for m in messages]
    report(failures)


def _bits(grads):
    return [None if g is None else [x.hex() if isinstance(x, float) else x for x in tensor_numbers(g)] for g in grads]


@pytest.mark.parametrize("entry", CHECKED, ids=ids)
def test_zero_in_zero_out_and_the_same_twice(entry):
    failures = []
    for case in differentiable_cases(entry):
        outputs, inputs = numeric.forward(case)
        if not outputs:
            continue
        zeros = [retrograd.zeros_like(o) for o in outputs]
        zero = retrograd.autograd.grad(outputs, inputs, zeros, allow_unused=True, retain_graph=True)
        if any(x != 0 for g in zero if g is not None for x in tensor_numbers(g)):
            failures.append(f"{case}: zero grad_output gives {[None if g is None else tensor_numbers(g)[:6] for g in zero]}")
        first = gradients(retrograd, outputs, inputs, retain_graph=True)
        if _bits(first) != _bits(gradients(retrograd, outputs, inputs)):
            failures.append(f"{case}: a second backward gives other numbers")
    report(failures)


@pytest.mark.parametrize("entry", CHECKED, ids=ids)
def test_each_input_alone(entry):
    """A gradient does not depend on which other inputs ask for one (what is saved does)."""
    failures = []
    for case in differentiable_cases(entry):
        together = run(retrograd, case).grads
        if len(case.differentiable) < 2:
            continue
        for i, expected in zip(case.differentiable, together, strict=False):
            args, kwargs, inputs = case.bind(retrograd, grad={i})
            outputs = flatten(call(retrograd, entry, args, kwargs))
            alone = gradients(retrograd, outputs, inputs)[0]
            if (alone is None) != (expected is None) and any(expected or ()):
                failures.append(f"{case}: gradient of input {i} alone is {alone}")
            elif alone is not None and expected is not None and (message := differing(tensor_numbers(alone), expected, 1e-12)):
                failures.append(f"{case}: input {i} alone: {message}")
    report(failures)


def _many_outputs(entry):
    return len(entry.returns) > 1 or entry.returns[0].type == "Tensor[]"


@pytest.mark.parametrize("entry", [e for e in CHECKED if _many_outputs(e)], ids=ids)
@pytest.mark.told("retain_graph_leak", why="of the last output nothing more is asked", sometimes=True)
def test_undefined_gradients_are_zeros(entry):
    """Backward from one of several outputs is backward with zeros for the others."""
    failures = []
    for case in differentiable_cases(entry):
        outputs, inputs = numeric.forward(case)
        for k, output in enumerate(outputs):
            weights = [cotangent(retrograd, o, k) if o is output else retrograd.zeros_like(o) for o in outputs]
            filled = retrograd.autograd.grad(outputs, inputs, weights, allow_unused=True, retain_graph=True)
            alone = retrograd.autograd.grad(output, inputs, weights[k], allow_unused=True, retain_graph=True)
            for a, b in zip(alone, filled, strict=True):
                a, b = ([0.0] * inputs[0].numel() if g is None else tensor_numbers(g) for g in (a, b))
                if len(a) == len(b) and (message := differing(a, b, 1e-12)):
                    failures.append(f"{case}: output {k} alone: {message}")
    report(failures)


@pytest.mark.parametrize("entry", entries(not_implemented), ids=ids)
def test_a_missing_derivative_says_so(entry):
    """Inputs declared `not_implemented` compute, and raise in backward."""
    case = cases(entry)[0]
    args, kwargs, _ = case.bind(retrograd, grad=False)
    for name in not_implemented(entry):
        at = [p.name for p in entry.params].index(name)
        if at >= len(args) or not isinstance(args[at], retrograd.Tensor) or not args[at].is_floating_point():
            continue
        given = [a.detach().requires_grad_() if i == at else a for i, a in enumerate(args)]
        result = flatten(call(retrograd, entry, given, kwargs))[0]
        with pytest.raises(NotImplementedError, match=r"the derivative for '.*' is not implemented"):
            result.sum().backward()


def test_differences_find_the_derivative_of_a_known_function():
    at = [[0.3, -1.2]]
    value = lambda x: math.sin(x[0][0]) * x[0][1] ** 2
    gradient = [[math.cos(0.3) * 1.44, math.sin(0.3) * -2.4]]
    assert numeric.disagreement(gradient, value, at, "x") == ""
    assert numeric.disagreement([[g * 1.00001 for g in gradient[0]]], value, at, "x")
