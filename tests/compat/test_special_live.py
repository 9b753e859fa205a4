"""The op table at special values beside PyTorch: results, first and second derivatives at zeros, ties, kinks and saturated arguments."""

import math
import random
import warnings

import pytest

torch = pytest.importorskip("torch")

import retrograd  # noqa: E402
from tests.ops.cases import cases, specs_of  # noqa: E402
from tests.ops.differences import comparable, excused  # noqa: E402
from tests.ops.harness import call, entries, ids, report  # noqa: E402
from tests.ops.tensors import flatten, tensor_numbers  # noqa: E402

torch.set_num_threads(1)
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 0.0, 0.0, 1.0, 1.0, 20.0, -20.0]

# What differs on purpose (docs/differences.md says so), by op and by what is compared.
DIFFERENT = {
    "pow": ("second derivative",),
    "float_power": ("second derivative",),
    "logit": ("second derivative",),
    "sinc": ("gradient", "second derivative"),
    "norm": ("second derivative",),
    "frobenius_norm": ("second derivative",),
    "linalg_vector_norm": ("second derivative",),
    "dist": ("second derivative",),
    "renorm": ("second derivative",),
    "cosine_similarity": ("second derivative",),
    "cdist": ("gradient",),
    "pdist": ("gradient",),
    "scatter_reduce": ("gradient",),
    "index_reduce": ("gradient",),
    # PyTorch's polygamma has nine digits, and at its poles a large number where there is an infinity.
    "lgamma": ("second derivative",),
    "digamma": ("gradient",),
    "polygamma": ("result", "gradient"),
    # Far from 0 some of PyTorch's have six digits.
    **dict.fromkeys(("special_airy_ai", *(f"special_bessel_{kind}" for kind in ("j0", "j1", "y0", "y1"))), ("result",)),
    "mvlgamma": ("gradient", "second derivative"),
    # Indices of equal elements; tests/ops/differences.py has the rest.
    **dict.fromkeys(("sort", "argsort", "topk", "kthvalue", "msort", "median", "nanmedian", "mode"), ("result", "gradient")),
    **dict.fromkeys(("histogram", "histogramdd"), ("result",)),  # bins in no order
    "as_strided_scatter": ("gradient",),
    "embedding_dense_backward": ("gradient",),
    "addcdiv": ("second derivative",),  # a division by zero: which of nan and inf
    "xlogy": ("second derivative",),
    # PyTorch approximates these, and gives numbers where there is no distribution.
    **dict.fromkeys(("_standard_gamma_grad", "_dirichlet_grad"), ("result",)),
}


def numbers(tensor):
    return None if tensor is None else tensor_numbers(tensor.resolve_conj())


def outcome(engine, case):
    """(what, numbers) of a call, of its gradients, of the gradients of their sum."""
    found = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            args, kwargs, inputs = case.bind(engine)
            out = [o for o in flatten(call(engine, case.entry, args, kwargs)) if isinstance(o, engine.Tensor)]
            found.append(("result", [numbers(o) for o in out]))
            out = [o for o in out if o.requires_grad]
            if not out:
                return found
            first = engine.autograd.grad(out, inputs, [engine.full_like(o, 0.5) for o in out], create_graph=True, allow_unused=True)
            found.append(("gradient", [numbers(g) for g in first]))
            first = [g for g in first if g is not None and g.requires_grad]
            second = engine.autograd.grad(first, inputs, [engine.ones_like(g) for g in first], allow_unused=True) if first else ()
            found.append(("second derivative", [numbers(g) for g in second] or [None] * len(inputs)))
    except (RuntimeError, ValueError, IndexError, TypeError) as error:
        found.append(("error", str(error).partition("\n")[0]))
    return found


def same(a, b):
    if a is None or b is None:  # nothing counts as zeros
        return all(x == 0 for x in (a or b or ()))
    close = lambda x, y: x == y or (x != x and y != y) or abs(x - y) <= 1e-7 * max(abs(x), abs(y), 1e-3)
    return len(a) == len(b) and all(close(x, y) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize(
    "entry",
    entries(lambda e: comparable(e) and e.family != "linalg" and not e.random and e.test.get("values") is not False),
    ids=ids,
)
def test_special_values(entry):
    failures = []
    for case in cases(entry)[:8]:
        floats = [i for i, spec in enumerate(specs_of(case.sample)) if spec.kind == "float"]
        for seed in range(2 if floats else 0):
            rng = random.Random(f"{entry.qualified} {case.index} {seed}")
            share = rng.choice([0.4, 1.0])
            changed = case.with_values({i: [rng.choice(SPECIAL) if rng.random() < share else v for v in case.values[i]] for i in floats})
            ours, theirs = outcome(retrograd, changed), outcome(torch, changed)
            for (what, a), (kind, b) in zip(ours, theirs, strict=False):
                if kind == "error":
                    if what != "error" and "not implemented" not in b and not excused(entry, f"expected RuntimeError ({b})"):
                        failures.append(f"{changed} {changed.values}: expected an error: {b}")
                    break
                if what == "error" or not all(same(x, y) for x, y in zip(a, b, strict=True)):
                    if what not in DIFFERENT.get(entry.name, ()):
                        failures.append(f"{changed} {changed.values}: {what}\n    ours   {a}\n    theirs {b}")
                    break
                if any(isinstance(x, float) and not math.isfinite(x) for values in b for x in values or ()):
                    break  # what comes after is made of infinities
    report(failures)
