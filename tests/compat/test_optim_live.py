"""Steps that are recorded (differentiable=True) on PyTorch and on retrograd: results and the gradients of what went in."""

import itertools

import pytest

import retrograd
from tests.optim.test_differentiable import CASES, names_of

torch = pytest.importorskip("torch")

START, GRADIENT = [1.0, -2.0, 0.5], [0.3, 0.7, -0.4]
# PyTorch's count of steps is in single precision, and it computes with it.
TOLERANCE = {"rtol": 3e-6, "atol": 3e-6}


def gradients(engine, name, options, tensors, maximize, steps):
    """The parameter after some steps, and gradients by name; or the exception."""
    leaves = {}

    def leaf(key, value):
        return leaves.setdefault(key, engine.tensor(value, dtype=engine.float64, requires_grad=True))

    options = {"lr": 0.1, **options}
    for key, i in tensors:
        value = options[key]
        options[key] = leaf(key, value) if i is None else tuple(leaf(f"{key}{i}", v) if k == i else v for k, v in enumerate(value))
    start, gradient = leaf("start", START), leaf("gradient", GRADIENT)
    param = start.clone()
    try:
        optimizer = getattr(engine.optim, name)([param], differentiable=True, maximize=maximize, **options)
        for k in range(steps):
            param.grad = gradient * (1 + 0.5 * k) + (param * 0.1 if k else 0)
            optimizer.step()
        grads = engine.autograd.grad((param * engine.tensor([1.0, 2.0, -1.0])).sum(), list(leaves.values()), allow_unused=True)
    except (RuntimeError, TypeError) as error:
        return error
    return {"param": param.tolist(), **{key: None if g is None else g.tolist() for key, g in zip(leaves, grads, strict=True)}}


def choices(options):
    """Which options are tensors: none, each alone, both of a pair, all."""
    names = [("lr", None), *names_of(options)]
    pairs = [[(n, 0), (n, 1)] for n, i in names if i == 0]
    return [[], *([n] for n in names if n[1] is None), *pairs, names]


@pytest.mark.parametrize(("cls", "options"), CASES)
def test_recorded_steps(cls, options):
    compared = 0
    for case in itertools.product(choices(options), (False, True), (1, 3)):
        theirs = gradients(torch, cls.__name__, options, *case)
        ours = gradients(retrograd, cls.__name__, options, *case)
        assert isinstance(ours, dict), ours
        if not isinstance(theirs, dict):  # PyTorch writes to what it saved, or takes no tensor here
            continue
        for key, value in theirs.items():
            # PyTorch cuts the history of the first momentum buffer of SGD, and of the rate of ASGD.
            if key != "param" and ((options.get("momentum") and cls is retrograd.optim.SGD) or cls is retrograd.optim.ASGD):
                continue
            assert (value is None) == (ours[key] is None), (case, key)
            if value is not None:
                torch.testing.assert_close(torch.tensor(ours[key]), torch.tensor(value), **TOLERANCE)
                compared += 1
    assert compared
