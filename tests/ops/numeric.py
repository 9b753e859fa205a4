"""Derivatives by differences, in float64.

First order: for a fixed cotangent v the analytic gradient is J^T v, one number per input element; its numeric twin is the two-sided
difference of sum(v * f(x)) in that element. Past `LIMIT` elements, differences along a few random directions stand for all. Second order is
the same check of the function (x, v) -> J^T v.

`analytic` and `analytic2`, through which all analytic gradients come, are arguments so that tests/meta can plant errors in them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import retrograd
from tests.ops.cases import Case
from tests.ops.harness import call, cotangent
from tests.ops.tensors import flatten, paired, seed_of, tensor_numbers

STEP = 1e-5  # rounding leaves 1e-16 / step, the third derivative step ** 2: about equal here
TOLERANCE = 2e-7  # of the larger of 1 and the gradient; a factor of 1.001 is 5,000 times that for gradients near one
LIMIT = 30  # elements

Numbers = list[list[float]]  # per input


def forward(case: Case) -> tuple[list[Any], list[Any]]:
    """(differentiable outputs, inputs). Outputs of lower precision are left out: differences drown in rounding."""
    args, kwargs, inputs = case.bind(retrograd)
    outputs = flatten(call(retrograd, case.entry, args, kwargs))
    return [
        o for o in outputs if isinstance(o, retrograd.Tensor) and o.requires_grad and o.dtype in (retrograd.float64, retrograd.complex128)
    ], inputs


def _grad(outputs: list[Any], inputs: list[Any], weights: list[Any], **options: Any) -> list[Any]:
    return list(retrograd.autograd.grad(outputs, inputs, weights, allow_unused=True, **options))


def _numbers(grads: list[Any], like: list[Any]) -> Numbers:
    return [[0.0] * len(tensor_numbers(t)) if g is None else tensor_numbers(g) for g, t in zip(grads, like, strict=True)]


def analytic(case: Case) -> Numbers | None:
    """J^T v, or None where nothing is differentiable."""
    outputs, inputs = forward(case)
    if not outputs:
        return None
    return _numbers(_grad(outputs, inputs, [cotangent(retrograd, o, i) for i, o in enumerate(outputs)]), inputs)


def analytic2(case: Case, extra: Numbers | None = None) -> tuple[Numbers, Numbers] | None:
    """The gradient of sum(w * J^T v) in x and in v (a pair of lists), or None where J^T v depends on neither."""
    gradients, inputs, cotangents = _vjp(case, extra, create_graph=True)
    tracked = [g for g in gradients if g is not None and g.requires_grad]
    if not tracked:
        return None
    weights = [cotangent(retrograd, g, 100 + i) for i, g in enumerate(gradients) if g is not None and g.requires_grad]
    second = _grad(tracked, inputs + cotangents, weights)
    values = _numbers(second, inputs + cotangents)
    return values[: len(inputs)], values[len(inputs) :]


def _vjp(case: Case, extra: Numbers | None, create_graph: bool) -> tuple[list[Any], list[Any], list[Any]]:
    outputs, inputs = forward(case)
    cotangents = [cotangent(retrograd, o, i) for i, o in enumerate(outputs)]
    if extra is not None:
        cotangents = [
            retrograd.tensor(paired(v) if c.is_complex() else v, dtype=c.dtype).reshape(c.shape)
            for v, c in zip(extra, cotangents, strict=True)
        ]
    if create_graph:
        cotangents = [c.requires_grad_() for c in cotangents]
    if not outputs:
        return [None] * len(inputs), inputs, cotangents
    return _grad(outputs, inputs, cotangents, create_graph=create_graph), inputs, cotangents


def _weighted(tensors: list[Any], salts: list[int]) -> float:
    total = []
    for tensor, salt in zip(tensors, salts, strict=True):
        weights = tensor_numbers(cotangent(retrograd, tensor, salt))
        total += [a * b for a, b in zip(tensor_numbers(tensor), weights, strict=True)]
    return math.fsum(total)


def disagreement(gradient: Numbers, value: Callable[[Numbers], float], at: Numbers, label: str) -> str:
    """Says where `gradient` is not the derivative of `value`, or nothing."""
    size = sum(map(len, at))
    largest = max((abs(x) for part in gradient for x in part), default=0.0)
    if not all(math.isfinite(x) for part in gradient for x in part):
        return f"{label}: the gradient is not finite: {gradient}"[:300]
    if size <= LIMIT:
        directions = [(f"d{label}[{i}][{j}]", _unit(at, i, j)) for i, part in enumerate(at) for j in range(len(part))]
    else:
        directions = [(f"{label} along direction {k}", _random_direction(at, k)) for k in range(4)]
    for name, direction in directions:
        numeric = (value(_moved(at, direction, STEP)) - value(_moved(at, direction, -STEP))) / (2 * STEP)
        exact = math.fsum(g * d for gs, ds in zip(gradient, direction, strict=True) for g, d in zip(gs, ds, strict=True))
        if not abs(numeric - exact) <= TOLERANCE * max(1.0, largest):
            return f"{name}: analytic {exact!r}, numeric {numeric!r}"
    return ""


def _unit(at: Numbers, i: int, j: int) -> Numbers:
    return [[float((k, n) == (i, j)) for n in range(len(part))] for k, part in enumerate(at)]


def _random_direction(at: Numbers, salt: int) -> Numbers:
    rng = seed_of(f"direction {salt} {[len(p) for p in at]}")
    return [[2 * rng.random() - 1 for _ in part] for part in at]


def _moved(at: Numbers, direction: Numbers, step: float) -> Numbers:
    return [[x + step * d for x, d in zip(xs, ds, strict=True)] for xs, ds in zip(at, direction, strict=True)]


def first_order(case: Case, analytic: Callable[[Case], Numbers | None] = analytic) -> str:
    """Says where the first derivatives of a sample disagree with differences, or nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gradient = analytic(case)
        if gradient is None:
            return ""
        which = case.differentiable

        def value(at: Numbers) -> float:
            outputs, _ = forward(case.with_values(dict(zip(which, at, strict=True))))
            return _weighted(outputs, list(range(len(outputs))))

        return disagreement(gradient, value, [case.values[i] for i in which], "x")


def second_order(case: Case, analytic2: Callable[..., tuple[Numbers, Numbers] | None] = analytic2) -> str:
    """Says where the derivatives of the gradient disagree with differences of the gradient, or nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outputs, _ = forward(case)
        if not outputs:
            return ""
        which = case.differentiable
        start = [case.values[i] for i in which] + [tensor_numbers(cotangent(retrograd, o, i)) for i, o in enumerate(outputs)]
        second = analytic2(case)
        gradient = [[0.0] * len(part) for part in start] if second is None else second[0] + second[1]

        def value(at: Numbers) -> float:
            moved = case.with_values(dict(zip(which, at, strict=False)))
            gradients, _, _ = _vjp(moved, at[len(which) :], create_graph=False)
            return _weighted([g for g in gradients if g is not None], [100 + i for i, g in enumerate(gradients) if g is not None])

        return disagreement(gradient, value, start, "(x, v)")
