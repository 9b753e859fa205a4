"""Tests of the tests: a gradient wrong by a tenth of a percent must be refused, for every op and every input in turn.

An op that lets it pass has poor samples: gradients too small next to the tolerance, or none at all.
"""

import pytest

from tests.ops import numeric
from tests.ops.cases import Case, cases
from tests.ops.differences import has_differences
from tests.ops.harness import ids, report
from tests.ops.test_forward_mode import as_function, first_order, moves_as_it_says
from tests.ops.test_gradients import CHECKED, TWICE

pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated")

FACTOR = 1.001


def planted(numbers: numeric.Numbers, which: int, first: int) -> numeric.Numbers:
    """Scales one input's gradient; where that is all zeros (step functions), moves one element away from zero."""
    part = numbers[which]
    wrong = [x * FACTOR for x in part] if any(part) else [0.001, *part[1:]] if part and first else part
    return [wrong if i == which else p for i, p in enumerate(numbers)]


def by_input(entry) -> dict[str, list[tuple[Case, int]]]:
    """For each differentiable argument of the entry: the samples that have it, and its place among their gradients."""
    found: dict[str, list[tuple[Case, int]]] = {}
    for case in cases(entry):
        if has_differences(case) and case.index not in entry.test.get("gradgrad_skip_samples", ()):
            for place, name in enumerate(case.differentiable_names):
                found.setdefault(name, []).append((case, place))
    return found


def is_constant(entry, name) -> bool:
    """No sample has anything but zeros for this input's gradient."""
    gradients = [(numeric.analytic(case), place) for case, place in by_input(entry)[name]]
    return all(g is None or not any(g[place]) for g, place in gradients)


def refuses(case, place, constant) -> bool:
    return bool(numeric.first_order(case, lambda c: planted(numeric.analytic(c), place, constant)))


@pytest.mark.parametrize("entry", CHECKED, ids=ids)
def test_first_order(entry):
    """`numeric.first_order` refuses the planted gradient on at least one sample."""
    accepted = []
    for name, places in by_input(entry).items():
        constant = is_constant(entry, name)
        tracked = [(case, place) for case, place in places if numeric.analytic(case)]
        if tracked and not any(refuses(case, place, constant) for case, place in tracked):
            accepted.append(f"{entry.qualified}: the gradient of {name!r} times {FACTOR} passes on every sample")
    report(accepted)


@pytest.mark.parametrize("entry", TWICE, ids=ids)
def test_second_order(entry):
    """The gradient is linear in grad_output, so its derivative in that is never constant: scaled, `second_order` refuses it."""
    refused = nothing = 0
    for places in by_input(entry).values():
        for case, _ in places:
            second = numeric.analytic2(case)
            if second is None or not any(x for part in second[1] for x in part):
                nothing += 1
                continue
            scale = lambda c: tuple([[x * FACTOR for x in part] for part in side] for side in numeric.analytic2(c))
            if numeric.second_order(case, scale):
                refused += 1
                break
    assert refused or nothing == sum(map(len, by_input(entry).values())), f"{entry.qualified}: second derivatives times {FACTOR} pass"


@pytest.mark.parametrize("entry", CHECKED, ids=ids)
def test_forward_mode(entry):
    """A rule that is wrong by that much in one input is refused on at least one sample."""
    accepted = []
    for name, places in by_input(entry).items():
        if is_constant(entry, name):
            continue
        moving = [(case, place) for case, place in places if moves_as_it_says(case) and numeric.analytic(case)]
        plant = lambda wrong: lambda i, t: t * FACTOR if i == wrong else t
        if moving and not any(first_order(case, as_function(case), plant(place)) for case, place in moving):
            accepted.append(f"{entry.qualified}: the tangent of {name!r} times {FACTOR} passes on every sample")
    report(accepted)
