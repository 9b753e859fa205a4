"""Forward mode of every op of the table. The tangent of a result and the gradient of the same op are two sides of one Jacobian:
sum(v * J t) = sum(J^T v * t), and the gradients have been checked against differences. The same for derivatives of gradients."""

import pytest

import retrograd
from retrograd.autograd import forward_ad
from tests.ops.cases import cases, not_implemented
from tests.ops.harness import call, cotangent, entries, ids, inplace_function, report
from tests.ops.tensors import flatten
from tests.ops.test_gradients import CHECKED, TWICE, differentiable_cases

pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated")

TOLERANCE = 1e-10


def _floats(values):
    return [o for o in flatten(values) if isinstance(o, retrograd.Tensor) and o.dtype in (retrograd.float64, retrograd.complex128)]


def _map(f, value):
    if isinstance(value, retrograd.Tensor):
        return f(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_map(f, v) for v in value)
    return value


def _bind(case):
    """The arguments, with all that require grad as leaves, and these."""
    args, kwargs, _ = case.bind(retrograd)
    leaves = []

    def leaf(x):
        if not x.requires_grad:
            return x
        leaves.append(x.detach().requires_grad_())
        return leaves[-1]

    return _map(leaf, args), {k: _map(leaf, v) for k, v in kwargs.items()}, leaves


def _dot(xs, ys):
    """The inner product; complex numbers count as pairs of real ones."""
    pairs = [(x, y) for x, y in zip(xs, ys, strict=True) if x is not None and y is not None]
    return sum((float((x * y.conj()).sum().real) for x, y in pairs), 0.0)


def _close(a, b):
    return a == b or abs(a - b) <= TOLERANCE * max(1.0, abs(a), abs(b)) or (a != a and b != b)


def _tangents(leaves):
    return [cotangent(retrograd, x, 50 + i) for i, x in enumerate(leaves)]


def _dual_call(case, run, plant=lambda i, t: t):
    """run() on the case's arguments with tangents; (outputs, leaves, tangents). `plant` may put an error into the tangents used."""
    args, kwargs, leaves = _bind(case)
    tangents = _tangents(leaves)
    table = {id(x): forward_ad.make_dual(x, plant(i, t)) for i, (x, t) in enumerate(zip(leaves, tangents, strict=True))}
    dual = lambda x: table.get(id(x), x)
    outputs = run(_map(dual, args), {k: _map(dual, v) for k, v in kwargs.items()})
    return _floats(outputs), leaves, tangents


def first_order(case, run, plant=lambda i, t: t):
    """What is wrong with the tangents of a case; empty when nothing is."""
    with forward_ad.dual_level():
        outputs, leaves, tangents = _dual_call(case, run, plant)
        pairs = [forward_ad.unpack_dual(o) for o in outputs]
        kept = [i for i, p in enumerate(pairs) if p.primal.requires_grad]
        extra = [i for i, p in enumerate(pairs) if p.tangent is not None and i not in kept and bool((p.tangent != 0).any())]
        if extra:
            return f"output {extra[0]} is not differentiable but has a tangent"
        for i, (value, tangent) in enumerate(pairs):
            if tangent is not None and (tangent.shape != value.shape or tangent.dtype != value.dtype):
                return f"tangent of output {i} is {tangent.dtype} {tuple(tangent.shape)}, the output {value.dtype} {tuple(value.shape)}"
        weights = [cotangent(retrograd, pairs[i].primal, i) for i in kept]
        forward = _dot(weights, [pairs[i].tangent.detach() if pairs[i].tangent is not None else None for i in kept])
        values = [pairs[i].primal for i in kept]
    if not values or not any(x.numel() for x in leaves):  # of no elements the mean is nan, and so is how it moves
        return ""
    gradients = retrograd.autograd.grad(values, leaves, weights, allow_unused=True)
    backward = _dot(gradients, tangents)
    return "" if _close(forward, backward) else f"forward mode gives {forward!r}, backward {backward!r}"


def moves_as_it_says(case):
    """scale_grad_by_freq makes the gradient of embedding something else than its derivative."""
    return not (case.entry.name == "embedding" and any(a is True for a in case.bind(retrograd)[0]))


def as_function(case):
    return lambda args, kwargs: call(retrograd, case.entry, args, kwargs)


@pytest.mark.parametrize("entry", CHECKED, ids=ids)
def test_agrees_with_backward(entry):
    report(
        [f"{case}: {m}" for case in differentiable_cases(entry) if moves_as_it_says(case) and (m := first_order(case, as_function(case)))]
    )


@pytest.mark.parametrize("entry", [e for e in CHECKED if "inplace" in e.variants], ids=ids)
def test_in_place(entry):
    function = inplace_function(retrograd, entry)

    def run(args, kwargs):
        first = args[0].clone()
        return function(first, *args[1:], **kwargs)

    failures = []
    for case in differentiable_cases(entry):
        args, kwargs, _ = _bind(case)
        if not isinstance(args[0], retrograd.Tensor) or args[0].dtype is not retrograd.float64:
            continue
        plain = call(retrograd, entry, args, kwargs) if set(entry.variants) & {"function", "method"} else args[0]
        if not isinstance(plain, retrograd.Tensor) or plain.shape != args[0].shape or plain.dtype != args[0].dtype:
            continue
        if message := first_order(case, run):
            failures.append(f"{case}: {message}")
    report(failures)


@pytest.mark.parametrize("entry", TWICE, ids=ids)
def test_forward_over_backward(entry):
    """The tangent of a gradient is the gradient of a gradient."""
    failures = []
    skipped = entry.test.get("gradgrad_skip_samples", ())
    for case in differentiable_cases(entry):
        if case.index in skipped:
            continue
        with forward_ad.dual_level():
            outputs, leaves, tangents = _dual_call(case, as_function(case))
            outputs = [o for o in outputs if o.requires_grad]
            if not outputs:
                continue
            weights = [cotangent(retrograd, o, i).detach() for i, o in enumerate(outputs)]
            gradients = retrograd.autograd.grad(outputs, leaves, weights, allow_unused=True, create_graph=True)
            pairs = [forward_ad.unpack_dual(g) for g in gradients if g is not None]
            probes = [cotangent(retrograd, p.primal, 100 + i).detach() for i, p in enumerate(pairs)]
            forward = _dot(probes, [p.tangent.detach() if p.tangent is not None else None for p in pairs])
            values = [p.primal for p in pairs]
        tracked = [(v, p) for v, p in zip(values, probes, strict=True) if v.requires_grad]
        backward = 0.0
        if tracked:
            second = retrograd.autograd.grad([v for v, _ in tracked], leaves, [p for _, p in tracked], allow_unused=True)
            backward = _dot(second, tangents)
        if not _close(forward, backward):
            failures.append(f"{case}: the tangent of the gradient gives {forward!r}, the second backward {backward!r}")
    report(failures)


@pytest.mark.parametrize("entry", entries(not_implemented), ids=ids)
def test_a_missing_derivative_says_so(entry):
    case = cases(entry)[0]
    args, kwargs, _ = case.bind(retrograd, grad=False)
    for name in not_implemented(entry):
        at = [p.name for p in entry.params].index(name)
        if at >= len(args) or not isinstance(args[at], retrograd.Tensor) or not args[at].is_floating_point():
            continue
        with forward_ad.dual_level():
            given = [forward_ad.make_dual(a, retrograd.ones_like(a)) if i == at else a for i, a in enumerate(args)]
            with pytest.raises(NotImplementedError, match=r"^Trying to use forward AD with \w+ that does not support it"):
                call(retrograd, entry, given, kwargs)
